/** Sends what is due to one endpoint, as one of the nodes that share this work. */
import type { Deliveries, Delivery, Taken, Verdict } from '../engine/deliveries.ts';
import type { FeedType } from '../protocol/feed.ts';
import { coalesce } from '../support/async/coalesce.ts';
import type { Clock } from '../support/clock.ts';
import type { Log } from '../support/log.ts';
import type { Random } from '../support/random.ts';
import { retryMs } from './backoff.ts';
import type { Endpoint } from './endpoint.ts';
import { createReport, type EndpointReport } from './report.ts';
import type { Answer, Sender } from './sender.ts';

export interface Dispatcher {
  readonly endpoint: Endpoint;
  /** Makes the endpoint known to the store: events from now on are its. Never rejects. */
  begin(): Promise<void>;
  /** Something may be due. */
  wake(): void;
  /** Lets what is under way come to its end for a while, aborts the rest, and leaves it to other nodes. */
  stop(): Promise<void>;
}

export interface DispatcherParts {
  readonly endpoint: Endpoint;
  readonly deliveries: Deliveries;
  readonly sender: Sender;
  /** Undefined for all. */
  readonly types: readonly FeedType[] | undefined;
  readonly timeoutMs: number;
  readonly giveUpMs: number;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly digest: (value: string) => string;
}

/** Rooms whose events one node sends at once. */
export const MOST_ROOMS = 32;
/** Events that wait for one endpoint; later ones stay in the feed, so that a dead endpoint does not fill the store. */
export const MOST_PENDING = 100_000;
/** Beyond the time-out of a request: for the rest of the answer, and for telling the store. */
const LEASE_MARGIN_MS = 5_000;
const FAREWELL_MS = 2_000;

export function createDispatcher(parts: DispatcherParts): Dispatcher {
  const { endpoint, sender, clock, log } = parts;
  const report = createReport(parts);
  const take = createTaking(parts, report);
  const underWay = new Set<Promise<void>>();
  let stopped = false;
  /** Whether more was or may be due than could be taken. */
  let left = false;

  const start = (delivery: Delivery): void => {
    const ended = deliver(delivery, parts, report, () => stopped)
      .catch(report.storeFails)
      .finally(() => {
        underWay.delete(ended);
        if (left) pulling.request();
      });
    underWay.add(ended);
  };

  const pull = async (): Promise<void> => {
    while (!stopped) {
      const rooms = Math.max(0, (report.doubtful() ? 1 : MOST_ROOMS) - underWay.size);
      const { deliveries: taken, more } = await take(rooms);
      for (const delivery of taken) start(delivery);
      left = more || taken.length === rooms;
      if (!more && (rooms === 0 || !left)) return;
    }
  };
  const pulling = coalesce(() => pull().catch(report.storeFails));

  return {
    endpoint,
    wake: pulling.request,
    begin: () => take(0).then(() => {}, report.storeFails),
    async stop() {
      stopped = true;
      await pulling.ended();
      const cut = clock.after(FAREWELL_MS, () => sender.close());
      await Promise.all(underWay);
      cut();
      sender.close();
      log.debug({ endpoint: endpoint.id }, 'a webhook has stopped');
    },
  };
}

function createTaking({ endpoint, deliveries, types, timeoutMs }: DispatcherParts, report: EndpointReport) {
  let known = false;
  return async (rooms: number): Promise<Taken> => {
    const from = known ? 'oldest' : 'end';
    const ask = { types, rooms, leaseMs: leaseOf(timeoutMs), most: MOST_PENDING, from } as const;
    const taken = await deliveries.take(endpoint.id, ask);
    known = true;
    report.storeAnswers(taken.lost);
    return taken;
  };
}

/** Sends an event, and those of its room that come after it, until one fails. */
async function deliver(
  first: Delivery,
  parts: DispatcherParts,
  report: EndpointReport,
  isStopped: () => boolean,
): Promise<void> {
  const { endpoint, deliveries, sender, timeoutMs } = parts;
  for (let delivery: Delivery | undefined = first; delivery !== undefined; ) {
    const { eventId, body } = delivery;
    const answer: Answer = isStopped() ? { kind: 'aborted' } : await sender.send({ id: eventId, body });
    const verdict = verdictOn(answer, delivery, parts);
    report.answered(verdict);
    const again = isStopped() ? undefined : { leaseMs: leaseOf(timeoutMs) };
    const { died, next } = await deliveries.settle(endpoint.id, delivery, verdict, again);
    if (died) report.died(delivery, verdict);
    delivery = next;
  }
}

const leaseOf = (timeoutMs: number): number => timeoutMs + LEASE_MARGIN_MS;

function verdictOn(answer: Answer, { failures }: Delivery, { giveUpMs, random }: DispatcherParts): Verdict {
  if (answer.kind === 'delivered') return answer;
  if (answer.kind === 'aborted') return { kind: 'released' };
  const { reason } = answer;
  return { kind: 'failed', reason, retryMs: retryMs(failures + 1, answer.retryAfterMs, random), giveUpMs };
}
