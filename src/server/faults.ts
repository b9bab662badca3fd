/** Converts every exception of a request into an error of the protocol. */

import type { ErrorCode, ErrorDetail } from '../protocol/errors.ts';
import { ReferenceUnavailable } from '../reference/port.ts';
import type { Log } from '../support/log.ts';
import type { Random } from '../support/random.ts';
import { StoreRecovering, StoreUnavailable } from '../support/store.ts';

/** Suggested delay before a retry: short outages are over by then. */
const RETRY_AFTER_MS = 1000;
const LOG_ID_BYTES = 6;

export interface Fault {
  readonly code: ErrorCode;
  readonly detail: ErrorDetail;
}

export type Faults = (error: unknown, during: string) => Fault;

export function createFaults(log: Log, random: Random): Faults {
  return (error, during) => {
    if (error instanceof StoreUnavailable) {
      const retryAfterMs = error instanceof StoreRecovering ? error.retryAfterMs : RETRY_AFTER_MS;
      return { code: 'STORE_UNAVAILABLE', detail: { retryAfterMs } };
    }
    if (error instanceof ReferenceUnavailable) {
      return { code: 'REFERENCE_UNAVAILABLE', detail: { retryAfterMs: RETRY_AFTER_MS } };
    }
    const logId = random.text(LOG_ID_BYTES);
    log.error({ err: error, logId, during }, 'an unexpected error');
    return { code: 'INTERNAL', detail: { message: `The server failed; the fault has been logged as ${logId}.` } };
  };
}
