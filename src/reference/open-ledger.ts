/** Which ledger a URL means. */
import { openDatabase } from '../database/open.ts';
import type { Log } from '../support/log.ts';
import type { Ledger } from './ledger.ts';
import { createSqlLedger } from './sql-ledger.ts';

/**
 * Nothing is connected to yet.
 *
 * @param url as `openDatabase` takes it
 * @throws LedgerMisconfigured
 */
export const openLedger = (url: string, log?: Log): Ledger => createSqlLedger(openDatabase(url, log));
