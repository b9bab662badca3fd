/** Sends what is due to one endpoint, as one of the nodes that share this work. */
import type { Deliveries, Delivery, Verdict } from '../engine/deliveries.ts';
import type { FeedType } from '../protocol/feed.ts';
import type { Clock } from '../support/clock.ts';
import type { Log } from '../support/log.ts';
import type { Random } from '../support/random.ts';
import { retryMs } from './backoff.ts';
import type { Endpoint } from './endpoint.ts';
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
/** After so many failures in a row the endpoint is taken to be down: one at a time, until one gets through. */
export const DOUBT = 16;
/** Events that wait for one endpoint; later ones stay in the feed, so that a dead endpoint does not fill the store. */
export const MOST_PENDING = 100_000;
/** Beyond the time-out of a request: for the rest of the answer, and for telling the store. */
const LEASE_MARGIN_MS = 5_000;
const FAREWELL_MS = 2_000;
/** How long complaints are not repeated. */
const QUIET_MS = 60_000;

export function createDispatcher(parts: DispatcherParts): Dispatcher {
  const { endpoint, deliveries, sender, types, timeoutMs, clock, log } = parts;
  const leaseMs = timeoutMs + LEASE_MARGIN_MS;
  const report = createReport(parts);
  const underWay = new Set<Promise<void>>();
  let stopped = false;
  let known = false;
  let pulling: Promise<void> | undefined;
  /** Whether more was or may be due than could be taken. */
  let left = false;
  let again = false;

  const take = async (rooms: number) => {
    const from = known ? 'oldest' : 'end';
    const taken = await deliveries.take(endpoint.id, { types, rooms, leaseMs, most: MOST_PENDING, from });
    known = true;
    report.storeAnswers(taken.lost);
    return taken;
  };

  const deliver = async (first: Delivery): Promise<void> => {
    for (let delivery: Delivery | undefined = first; delivery !== undefined; ) {
      const answer: Answer = stopped ? { kind: 'aborted' } : await sender.send({ ...delivery, id: delivery.eventId });
      const verdict = verdictOn(answer, delivery, parts);
      report.answered(verdict);
      const next = stopped ? undefined : { leaseMs };
      const settled = await deliveries.settle(endpoint.id, delivery, verdict, next);
      if (settled.died) report.died(delivery, verdict);
      delivery = settled.next;
    }
  };

  const start = (delivery: Delivery): void => {
    const ended = deliver(delivery)
      .catch(report.storeFails)
      .finally(() => {
        underWay.delete(ended);
        if (left) wake();
      });
    underWay.add(ended);
  };

  const pull = async (): Promise<void> => {
    for (;;) {
      const rooms = Math.max(0, (report.doubtful() ? 1 : MOST_ROOMS) - underWay.size);
      const { deliveries: taken, more } = await take(rooms);
      for (const delivery of taken) start(delivery);
      left = more || taken.length === rooms;
      if (stopped || !(more || (rooms > 0 && left))) return;
    }
  };

  const wake = (): void => {
    if (stopped) return;
    again = pulling !== undefined;
    pulling ??= pull()
      .catch(report.storeFails)
      .finally(() => {
        pulling = undefined;
        if (again) wake();
      });
  };

  return {
    endpoint,
    wake,
    begin: () => take(0).then(() => {}, report.storeFails),
    async stop() {
      stopped = true;
      await pulling;
      const cut = clock.after(FAREWELL_MS, () => sender.close());
      await Promise.all(underWay);
      cut();
      sender.close();
      log.debug({ endpoint: endpoint.id }, 'a webhook has stopped');
    },
  };
}

function verdictOn(answer: Answer, { failures }: Delivery, { giveUpMs, random }: DispatcherParts): Verdict {
  if (answer.kind === 'delivered') return answer;
  if (answer.kind === 'aborted') return { kind: 'released' };
  const { reason } = answer;
  return { kind: 'failed', reason, retryMs: retryMs(failures + 1, answer.retryAfterMs, random), giveUpMs };
}

/** How the endpoint and the store do: remembered, and told in the log without repeating it for every event. */
function createReport({ endpoint, clock, log, digest }: DispatcherParts) {
  const about = { endpoint: endpoint.id, origin: endpoint.origin };
  let failuresInARow = 0;
  let quietUntil = 0;
  let storeFailed = false;
  return {
    doubtful: () => failuresInARow >= DOUBT,
    answered(verdict: Verdict): void {
      if (verdict.kind === 'released') return;
      if (verdict.kind === 'delivered') {
        if (failuresInARow >= DOUBT) log.info(about, 'a webhook gets through again');
        failuresInARow = 0;
        return;
      }
      failuresInARow += 1;
      if (failuresInARow === DOUBT) log.warn({ ...about, reason: verdict.reason }, 'a webhook seems to be down');
      if (clock.now() < quietUntil) return;
      quietUntil = clock.now() + QUIET_MS;
      log.warn({ ...about, reason: verdict.reason }, 'a webhook has not taken an event; it is tried again');
    },
    died({ eventId, failures }: Delivery, verdict: Verdict): void {
      const reason = verdict.kind === 'failed' ? verdict.reason : undefined;
      const event = digest(eventId);
      log.warn({ ...about, event, attempts: failures + 1, reason }, 'an event is given up: a dead letter');
    },
    storeAnswers(lost: number): void {
      storeFailed = false;
      if (lost > 0) log.error({ ...about, lost }, 'events were not kept until a webhook could be sent them');
    },
    storeFails: (error: unknown): void => {
      if (!storeFailed) log.warn({ ...about, err: error }, 'a webhook waits for the store');
      storeFailed = true;
    },
  };
}
