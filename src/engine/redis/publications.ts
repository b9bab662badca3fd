import type { Clock } from '../../support/clock.ts';
import { withDeadline } from '../../support/deadline.ts';

/** The methods of a node-redis client that publishing needs. */
export interface PublishingClient {
  readonly isReady: boolean;
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

/** Publishes without waiting, and counts what was dropped. */
export class Publications {
  readonly #client: PublishingClient;
  readonly #options: PublicationOptions;
  #published = 0;
  #dropped = 0;
  #unanswered = 0;
  #unansweredBytes = 0;
  #lastAnswer = 0;
  #closed = false;

  constructor(client: PublishingClient, options: PublicationOptions) {
    this.#client = client;
    this.#options = options;
  }

  /** A frozen Redis stays connected, and would deliver everything written meanwhile when it thaws: stale by then. */
  get up(): boolean {
    const { clock, deadlineMs } = this.#options;
    const stalled = this.#unanswered > 0 && clock.monotonic() - this.#lastAnswer > deadlineMs;
    return this.#client.isReady && !stalled && !this.#closed && !this.#isFull;
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

  get #isFull(): boolean {
    return this.#unanswered >= MAX_UNANSWERED.messages || this.#unansweredBytes >= MAX_UNANSWERED.bytes;
  }

  /** @returns undefined when it was dropped. */
  #write(channel: string, payload: string | Buffer): Promise<number> | undefined {
    if (!this.up) {
      this.#dropped += 1;
      return undefined;
    }
    if (this.#unanswered === 0) this.#lastAnswer = this.#options.clock.monotonic();
    this.#unanswered += 1;
    this.#published += 1;
    const bytes = Buffer.byteLength(payload);
    this.#unansweredBytes += bytes;
    const reply = this.#client.sPublish(channel, payload);
    reply.then(
      () => this.#answered(bytes),
      () => {
        this.#dropped += 1;
        this.#answered(bytes);
      },
    );
    return reply;
  }

  #answered(bytes: number): void {
    this.#unanswered -= 1;
    this.#unansweredBytes -= bytes;
    this.#lastAnswer = this.#options.clock.monotonic();
  }
}
