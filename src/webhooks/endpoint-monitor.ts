/** Watches whether an endpoint takes events, and logs changes: not every event. */
import type { Clock } from '../support/clock.ts';
import type { Log } from '../support/log.ts';
import type { Endpoint } from './endpoint.ts';
import type { Delivery, DeliveryResult } from './queue/queue.ts';

export interface EndpointMonitor {
  /** Half-open circuit: while true, one request at a time is sent, until one succeeds. */
  readonly seemsDown: () => boolean;
  readonly onResult: (result: DeliveryResult) => void;
  readonly onDeadLetter: (delivery: Delivery, result: DeliveryResult) => void;
  /** The store has found so many events to be trimmed from the feed. */
  readonly onLost: (lost: number) => void;
}

export interface EndpointMonitorDeps {
  readonly endpoint: Endpoint;
  readonly clock: Clock;
  readonly log: Log;
  readonly digest: (value: string) => string;
}

/** Failures in a row after which an endpoint seems to be down. */
export const DOWN_AFTER_FAILURES = 16;
/** Failed attempts are logged at most once in this time. */
const LOG_INTERVAL_MS = 60_000;

export function createEndpointMonitor({ endpoint, clock, log, digest }: EndpointMonitorDeps): EndpointMonitor {
  const about = { endpoint: endpoint.id, origin: endpoint.origin };
  let failuresInARow = 0;
  let loggedAt = Number.NEGATIVE_INFINITY;
  return {
    seemsDown: () => failuresInARow >= DOWN_AFTER_FAILURES,
    onResult(result) {
      if (result.kind === 'released') return;
      if (result.kind === 'delivered') {
        if (failuresInARow >= DOWN_AFTER_FAILURES) log.info(about, 'a webhook works again');
        failuresInARow = 0;
        return;
      }
      failuresInARow += 1;
      const context = { ...about, reason: result.reason };
      if (failuresInARow === DOWN_AFTER_FAILURES) log.warn(context, 'a webhook seems to be down');
      if (clock.monotonic() - loggedAt < LOG_INTERVAL_MS) return;
      loggedAt = clock.monotonic();
      log.warn(context, 'a webhook has not taken an event; it is tried again');
    },
    onDeadLetter({ eventId, failures }, result) {
      const reason = result.kind === 'failed' ? result.reason : undefined;
      const event = digest(eventId);
      log.warn({ ...about, event, attempts: failures + 1, reason }, 'an event is given up: a dead letter');
    },
    onLost(lost) {
      if (lost > 0)
        log.error({ ...about, lost }, 'events were trimmed from the feed before a webhook could be sent them');
    },
  };
}
