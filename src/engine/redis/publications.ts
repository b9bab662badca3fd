import type { ClusterConnections } from '../../redis/client.ts';
import type { Clock } from '../../support/clock.ts';
import { withDeadline } from '../../support/deadline.ts';

/** The methods of a node-redis client that publishing needs. */
export interface PublishingClient {
  readonly isReady: boolean;
  /** Of a Cluster. */
  readonly cluster?: Pick<ClusterConnections, 'ownerOf' | 'client'>;
  sPublish(channel: string, payload: string | Buffer): Promise<number>;
  sendCommand(args: string[]): Promise<unknown>;
}

export interface PublicationOptions {
  readonly deadlineMs: number;
  readonly unavailable: () => Error;
  readonly clock: Pick<Clock, 'monotonic'>;
}

/** Messages and bytes that Redis has not acknowledged: more would only queue before a Redis that is too slow. */
const MAX_UNANSWERED = { messages: 16_384, bytes: 32 * 1024 * 1024 };

/** What one server has been sent. */
interface Sent {
  unanswered: number;
  unansweredBytes: number;
  lastAnswer: number;
}

/** Publishes without waiting, and counts what was dropped. A master of a Cluster that is slow holds up no other one. */
export class Publications {
  readonly #client: PublishingClient;
  readonly #options: PublicationOptions;
  #published = 0;
  #dropped = 0;
  /** By master. */
  readonly #sent = new Map<string, Sent>();
  #closed = false;

  constructor(client: PublishingClient, options: PublicationOptions) {
    this.#client = client;
    this.#options = options;
  }

  /** A frozen Redis stays connected, and would deliver everything written meanwhile when it thaws: stale by then. */
  isUp(channel: string): boolean {
    return this.#takes(this.#ownerOf(channel));
  }

  publish(channel: string, payload: string | Buffer): void {
    void this.#write(channel, payload);
  }

  /**
   * Publishes, and resolves with the number of subscribers, however long that takes.
   *
   * @throws `unavailable()` when it was dropped, or the connection was lost.
   */
  count(channel: string, payload: string | Buffer): Promise<number> {
    const { unavailable } = this.#options;
    const reply = this.#write(channel, payload) ?? Promise.reject();
    return reply.catch(() => Promise.reject(unavailable()));
  }

  ask(args: string[]): Promise<unknown> {
    return withDeadline(this.#client.sendCommand(args), this.#options.deadlineMs, this.#options.unavailable);
  }

  stats(): { published: number; dropped: number } {
    return { published: this.#published, dropped: this.#dropped };
  }

  close(): void {
    this.#closed = true;
  }

  /** Undefined while no master has the slot. */
  #ownerOf(channel: string): string | undefined {
    const { cluster } = this.#client;
    return cluster === undefined ? '' : cluster.ownerOf(channel);
  }

  #takes(owner: string | undefined): owner is string {
    const { cluster, isReady } = this.#client;
    if (owner === undefined || this.#closed) return false;
    if (cluster === undefined ? !isReady : cluster.client(owner) === undefined) return false;
    const sent = this.#sent.get(owner);
    if (sent === undefined || sent.unanswered === 0) return true;
    const { clock, deadlineMs } = this.#options;
    const isFull = sent.unanswered >= MAX_UNANSWERED.messages || sent.unansweredBytes >= MAX_UNANSWERED.bytes;
    return !isFull && clock.monotonic() - sent.lastAnswer <= deadlineMs;
  }

  #sentTo(owner: string): Sent {
    const known = this.#sent.get(owner);
    if (known !== undefined) return known;
    const sent = { unanswered: 0, unansweredBytes: 0, lastAnswer: 0 };
    this.#sent.set(owner, sent);
    return sent;
  }

  /** @returns undefined when it was dropped. */
  #write(channel: string, payload: string | Buffer): Promise<number> | undefined {
    const owner = this.#ownerOf(channel);
    if (!this.#takes(owner)) {
      this.#dropped += 1;
      return undefined;
    }
    const sent = this.#sentTo(owner);
    if (sent.unanswered === 0) sent.lastAnswer = this.#options.clock.monotonic();
    sent.unanswered += 1;
    this.#published += 1;
    const bytes = Buffer.byteLength(payload);
    sent.unansweredBytes += bytes;
    const reply = this.#client.sPublish(channel, payload);
    reply.then(
      () => this.#answered(sent, bytes),
      () => {
        this.#dropped += 1;
        this.#answered(sent, bytes);
      },
    );
    return reply;
  }

  #answered(sent: Sent, bytes: number): void {
    sent.unanswered -= 1;
    sent.unansweredBytes -= bytes;
    sent.lastAnswer = this.#options.clock.monotonic();
  }
}
