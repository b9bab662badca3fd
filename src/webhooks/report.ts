/** How an endpoint does, and the store behind it: remembered, and told in the log without repeating it for every event. */
import type { Delivery, Verdict } from '../engine/deliveries.ts';
import type { Clock } from '../support/clock.ts';
import type { Log } from '../support/log.ts';
import type { Endpoint } from './endpoint.ts';

export interface EndpointReport {
  /** The endpoint seems to be down: to be asked one thing at a time, until one gets through. */
  readonly doubtful: () => boolean;
  readonly answered: (verdict: Verdict) => void;
  readonly died: (delivery: Delivery, verdict: Verdict) => void;
  /** @param lost events that it has found to be gone */
  readonly storeAnswers: (lost: number) => void;
  readonly storeFails: (error: unknown) => void;
}

export interface ReportParts {
  readonly endpoint: Endpoint;
  readonly clock: Clock;
  readonly log: Log;
  readonly digest: (value: string) => string;
}

/** Failures in a row after which an endpoint is in doubt. */
export const DOUBT = 16;
/** How long complaints are not repeated. */
const QUIET_MS = 60_000;

export function createReport({ endpoint, clock, log, digest }: ReportParts): EndpointReport {
  const about = { endpoint: endpoint.id, origin: endpoint.origin };
  let failuresInARow = 0;
  let quietUntil = 0;
  let storeFailed = false;
  return {
    doubtful: () => failuresInARow >= DOUBT,
    answered(verdict) {
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
    died({ eventId, failures }, verdict) {
      const reason = verdict.kind === 'failed' ? verdict.reason : undefined;
      const event = digest(eventId);
      log.warn({ ...about, event, attempts: failures + 1, reason }, 'an event is given up: a dead letter');
    },
    storeAnswers(lost) {
      storeFailed = false;
      if (lost > 0) log.error({ ...about, lost }, 'events were not kept until a webhook could be sent them');
    },
    storeFails(error) {
      if (!storeFailed) log.warn({ ...about, err: error }, 'a webhook waits for the store');
      storeFailed = true;
    },
  };
}
