/** Which ledger a URL means. The drivers are loaded when one is needed: who uses none pays for none. */
import type { Log } from '../support/log.ts';
import { lazyLedger } from './lazy.ts';
import { type Ledger, LedgerMisconfigured } from './ledger.ts';
import { isLedgerUrl, LEDGER_URLS } from './ledger-url.ts';
import { addressOf } from './where.ts';

/**
 * `sqlite:path` (relative to the working directory, or absolute), `postgres://`, `mysql://` or `mariadb://`. Nothing is
 * connected to yet.
 *
 * @throws LedgerMisconfigured
 */
export function openLedger(url: string, log?: Log): Ledger {
  if (!isLedgerUrl(url)) throw new LedgerMisconfigured(`the URL of the ledger cannot be read: expected ${LEDGER_URLS}`);
  switch (new URL(url).protocol) {
    case 'sqlite:': {
      const path = url.slice('sqlite:'.length).replace(/^\/\/(?=\/)/, '');
      return lazyLedger(`sqlite at ${path}`, async () => (await import('./sqlite.ts')).createSqliteLedger(path));
    }
    case 'postgres:':
    case 'postgresql:':
      return lazyLedger(`postgres at ${addressOf(url)}`, async () =>
        (await import('./postgres.ts')).createPostgresLedger(url, log),
      );
    default:
      return lazyLedger(`mysql at ${addressOf(url)}`, async () =>
        (await import('./mysql.ts')).createMysqlLedger(url, log),
      );
  }
}
