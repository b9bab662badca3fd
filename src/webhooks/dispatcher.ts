/** Sends due events to one endpoint. Every node has a dispatcher for each endpoint; the queue shares the work out. */
import type { FeedType } from '../protocol/feed.ts';
import { type Coalesced, coalesce } from '../support/async/coalesce.ts';
import type { Clock } from '../support/clock.ts';
import type { Log } from '../support/log.ts';
import type { Random } from '../support/random.ts';
import type { StoreTime } from '../support/store-time.ts';
import type { Endpoint } from './endpoint.ts';
import { createEndpointMonitor, type EndpointMonitor } from './endpoint-monitor.ts';
import type { Claimed, Delivery, DeliveryResult, WebhookQueue } from './queue/queue.ts';
import { retryDelayMs } from './retry-delay.ts';
import type { Sender, SendResult } from './sender.ts';

export interface DispatcherDeps {
  readonly endpoint: Endpoint;
  readonly queue: WebhookQueue;
  readonly sender: Sender;
  /** Undefined for all. */
  readonly types: readonly FeedType[] | undefined;
  readonly timeoutMs: number;
  readonly giveUpMs: number;
  readonly clock: Clock;
  /** Learns the store's time from its replies. */
  readonly time: Pick<StoreTime, 'learn'>;
  readonly random: Random;
  readonly log: Log;
  readonly digest: (value: string) => string;
}

/** Rooms whose events one node sends at the same time. */
export const MAX_ROOMS = 32;
/** Events queued for one endpoint; later ones stay in the feed, so that an endpoint that is down does not fill the store. */
export const MAX_PENDING = 100_000;
/** Part of the lease beyond the time-out of a request: for the rest of the response, and for completing. */
const LEASE_MARGIN_MS = 5_000;
/** How long `stop` lets requests finish before it aborts them. */
const STOP_MS = 2_000;

export class Dispatcher {
  readonly endpoint: Endpoint;
  readonly #deps: DispatcherDeps;
  readonly #monitor: EndpointMonitor;
  readonly #inFlight = new Set<Promise<void>>();
  readonly #pulls: Coalesced;
  #isStopped = false;
  #isRegistered = false;
  /** More events were or may be due than could be claimed. */
  #mayBeMore = false;

  constructor(deps: DispatcherDeps) {
    this.#deps = deps;
    this.endpoint = deps.endpoint;
    this.#monitor = createEndpointMonitor(deps);
    this.#pulls = coalesce(() => this.#pull().catch(this.#onFailure));
  }

  /** Makes the endpoint known to the queue: later events are queued for it. Never rejects. */
  async register(): Promise<void> {
    await this.#claim(0).catch(this.#onFailure);
  }

  /** To be called when events may be due. */
  wake(): void {
    this.#pulls.request();
  }

  /** Lets requests finish for a while, then aborts them and leaves their events to other nodes. */
  async stop(): Promise<void> {
    const { sender, clock, log } = this.#deps;
    this.#isStopped = true;
    await this.#pulls.ended();
    const cancelAbort = clock.after(STOP_MS, () => sender.close());
    await Promise.all(this.#inFlight);
    cancelAbort();
    sender.close();
    log.debug({ endpoint: this.endpoint.id }, 'a webhook has stopped');
  }

  /** Claims and sends until nothing more is due, or as many rooms are in flight as may be. */
  async #pull(): Promise<void> {
    while (!this.#isStopped) {
      const maxRooms = Math.max(0, (this.#monitor.seemsDown() ? 1 : MAX_ROOMS) - this.#inFlight.size);
      const { deliveries, more } = await this.#claim(maxRooms);
      for (const delivery of deliveries) this.#start(delivery);
      this.#mayBeMore = more || deliveries.length === maxRooms;
      if (!more && (maxRooms === 0 || !this.#mayBeMore)) return;
    }
  }

  async #claim(maxRooms: number): Promise<Claimed> {
    const { queue, types, time } = this.#deps;
    // A store that knew the endpoint and has forgotten it was emptied: then everything in the feed is new.
    const from = this.#isRegistered ? 'oldest' : 'end';
    const request = { types, maxRooms, leaseMs: this.#leaseMs(), maxPending: MAX_PENDING, from } as const;
    const claimed = await queue.claim(this.endpoint.id, request);
    this.#isRegistered = true;
    time.learn(claimed.now);
    this.#monitor.onLost(claimed.lost);
    return claimed;
  }

  #start(delivery: Delivery): void {
    const sent = this.#send(delivery)
      .catch(this.#onFailure)
      .finally(() => {
        this.#inFlight.delete(sent);
        if (this.#mayBeMore) this.wake();
      });
    this.#inFlight.add(sent);
  }

  /** Sends an event, then the next ones of its room, until one fails. */
  async #send(first: Delivery): Promise<void> {
    const { queue, sender } = this.#deps;
    for (let delivery: Delivery | undefined = first; delivery !== undefined; ) {
      const { eventId, body } = delivery;
      const answer: SendResult = this.#isStopped ? { kind: 'aborted' } : await sender.send({ id: eventId, body });
      const result = resultOf(answer, delivery, this.#deps);
      this.#monitor.onResult(result);
      const claimNext = this.#isStopped ? undefined : { leaseMs: this.#leaseMs() };
      const { dead, next } = await queue.complete(this.endpoint.id, delivery, result, claimNext);
      if (dead) this.#monitor.onDeadLetter(delivery, result);
      delivery = next;
    }
  }

  /** A failure of the queue is in its health, and in the log once: events are claimed again after a while. */
  readonly #onFailure = (error: unknown): void => {
    this.#deps.log.debug({ endpoint: this.endpoint.id, err: error }, 'events could not be claimed or completed');
  };

  #leaseMs(): number {
    return this.#deps.timeoutMs + LEASE_MARGIN_MS;
  }
}

function resultOf(answer: SendResult, { failures }: Delivery, { giveUpMs, random }: DispatcherDeps): DeliveryResult {
  if (answer.kind === 'delivered') return answer;
  if (answer.kind === 'aborted') return { kind: 'released' };
  const { reason } = answer;
  return { kind: 'failed', reason, retryMs: retryDelayMs(failures + 1, answer.retryAfterMs, random), giveUpMs };
}
