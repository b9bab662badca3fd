/** Which ledger a URL means. The drivers are loaded when one is needed: who uses none pays for none. */
import type { Log } from '../support/log.ts';
import { type Ledger, LedgerMisconfigured } from './ledger.ts';

const EXPECTED = 'expected postgres://..., mysql://... or sqlite:path';

/** Whether a text is such a URL, without saying what it is: it may hold a password. */
export const isLedgerUrl = (url: string): boolean =>
  /^sqlite:./.test(url) || (/^(postgres|postgresql|mysql|mariadb):\/\/./.test(url) && URL.canParse(url));

/**
 * `sqlite:path` (relative to the working directory, or absolute), `postgres://`, `mysql://` or `mariadb://`. Nothing is
 * connected to yet.
 *
 * @throws LedgerMisconfigured
 */
export async function openLedger(url: string, log?: Log): Promise<Ledger> {
  if (!isLedgerUrl(url)) throw new LedgerMisconfigured(`the URL of the ledger cannot be read: ${EXPECTED}`);
  switch (new URL(url).protocol) {
    case 'sqlite:':
      return (await import('./sqlite.ts')).createSqliteLedger(url.slice('sqlite:'.length).replace(/^\/\/(?=\/)/, ''));
    case 'postgres:':
    case 'postgresql:':
      return (await import('./postgres.ts')).createPostgresLedger(url, log);
    default:
      return (await import('./mysql.ts')).createMysqlLedger(url, log);
  }
}
