/** Guard of the queries: callers get `RecordsUnavailable` while the database is away, and the cause is logged once. */
import { DatabaseUnavailable } from '../database/database.ts';
import type { Log } from '../support/log.ts';
import { RecordsUnavailable } from './port.ts';

/** @throws RecordsUnavailable in place of `DatabaseUnavailable`; rethrows every other error. */
export type Guard = <T>(query: () => Promise<T>) => Promise<T>;

export function createGuard(log: Log): Guard {
  let isAway = false;
  return async (query) => {
    try {
      const result = await query();
      if (isAway) log.info('call records can be read again');
      isAway = false;
      return result;
    } catch (error) {
      if (!(error instanceof DatabaseUnavailable)) throw error;
      // Once per outage: clients retry their requests.
      if (!isAway) log.warn({ err: error }, 'call records cannot be read');
      isAway = true;
      throw new RecordsUnavailable('the database of the call records does not answer', { cause: error });
    }
  };
}
