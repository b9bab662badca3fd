/** Asks the database of the records. That it does not answer is told to whoever asks, and its reason to the log, once. */
import { DatabaseUnavailable } from '../database/database.ts';
import type { Log } from '../support/log.ts';
import { RecordsUnavailable } from './port.ts';

/** @throws RecordsUnavailable in place of `DatabaseUnavailable`; all else is a fault, and passed on. */
export type Guard = <T>(question: () => Promise<T>) => Promise<T>;

export function createGuard(log: Log): Guard {
  let isAway = false;
  return async (question) => {
    try {
      const answer = await question();
      if (isAway) log.info('call records can be read again');
      isAway = false;
      return answer;
    } catch (error) {
      if (!(error instanceof DatabaseUnavailable)) throw error;
      // Whoever asks may ask again and again.
      if (!isAway) log.warn({ err: error }, 'call records cannot be read');
      isAway = true;
      throw new RecordsUnavailable('the database of the call records does not answer', { cause: error });
    }
  };
}
