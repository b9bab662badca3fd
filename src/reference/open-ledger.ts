/** Which ledger a URL means. */
import { DatabaseMisconfigured } from '../database/database.ts';
import { openDatabase } from '../database/open.ts';
import type { Log } from '../support/log.ts';
import { type Ledger, LedgerMisconfigured } from './ledger.ts';
import { createSqlLedger } from './sql-ledger.ts';

/**
 * Nothing is connected to yet.
 *
 * @param url as `openDatabase` takes it
 * @throws LedgerMisconfigured
 */
export function openLedger(url: string, log?: Log): Ledger {
  try {
    return createSqlLedger(openDatabase(url, log));
  } catch (error) {
    if (error instanceof DatabaseMisconfigured) throw new LedgerMisconfigured(error.message);
    throw error;
  }
}
