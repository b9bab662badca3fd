/** The embedded ledger: one file, through libsql. Only what better-sqlite3 has as well is used of it. */

import { statSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Database } from 'libsql';
import { LEAP, type Lease, type LeaseAsk, type Ledger, LedgerMisconfigured, readNumber } from './ledger.ts';
import { MIGRATIONS_TABLE, migrationsAfter } from './migrations.ts';

/** Another process holds the lock for one commit. This one stands still meanwhile: the calls are synchronous. */
const BUSY_MS = 1_000;

const HIGHEST = 'SELECT highest FROM signalbox_records WHERE prefix = ? AND year = ?';
/** One statement, so that nobody comes in between. The right-hand sides see the row as it was. */
const LEASE = `
  INSERT INTO signalbox_seeds (prefix, year, seed, previous) VALUES (?1, ?2, ?3 + ?5, 0)
  ON CONFLICT (prefix, year) DO UPDATE SET
    previous = seed,
    seed = CASE WHEN seed < ?4 THEN ?3 ELSE seed END + ?5
  RETURNING seed, previous`;
const RECORD = `
  INSERT INTO signalbox_records (prefix, year, highest) VALUES (?, ?, ?)
  ON CONFLICT (prefix, year) DO UPDATE SET highest = MAX(highest, excluded.highest)`;

type Row = Record<string, unknown>;

export function createSqliteLedger(path: string, clock: { now(): number } = Date): Ledger {
  let opened: { readonly database: Database; readonly file: string } | undefined;
  /** Kept, so that nobody closes them: SQLite would take away the log of the file that is there now. */
  const abandoned: Database[] = [];

  const open = async (): Promise<Database> => {
    if (opened !== undefined && opened.file === fileAt(path)) return opened.database;
    // Whoever restores a backup puts another file in its place, and this process would go on writing to one without a name.
    if (opened !== undefined) abandoned.push(opened.database);
    opened = undefined;
    const database = await openFile(path);
    opened = { database, file: fileAt(path) };
    return database;
  };

  return {
    name: `sqlite at ${path}`,
    open: async () => void (await open()),
    now: async () => clock.now(),
    lease: async (ask) => leaseIn(await open(), ask),
    async record(marks) {
      const statement = (await open()).prepare(RECORD);
      for (const { prefix, year, sequence } of marks) statement.run(prefix, year, sequence);
    },
    async close() {
      if (opened === undefined) return;
      const { database } = opened;
      opened = undefined;
      // libsql leaves the log behind, and whoever copies the file alone would miss what is in it.
      database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
      database.close();
    },
  };
}

function leaseIn(database: Database, { prefix, year, step, floor: asked }: LeaseAsk): Lease {
  const kept = first(database, HIGHEST, prefix, year);
  const floor = Math.max(asked, kept === undefined ? 0 : readNumber(kept['highest']));
  const from = floor === 0 ? 0 : floor + LEAP;
  const row = first(database, LEASE, prefix, year, from, floor, step);
  const last = readNumber(row?.['seed']);
  return { first: last - step + 1, last, seed: readNumber(row?.['previous']), floor };
}

/** Not by `get()`: in libsql it gives an empty row for none. */
const first = (database: Database, sql: string, ...values: readonly (string | number)[]): Row | undefined =>
  (database.prepare(sql).all(...values) as Row[])[0]; // rows are objects by column

/** Tells one file from another under the same name. */
function fileAt(path: string): string {
  const found = statSync(path, { throwIfNoEntry: false });
  return found === undefined ? 'none' : `${found.dev}:${found.ino}`;
}

async function openFile(path: string): Promise<Database> {
  const { default: Sqlite } = await import('libsql').catch((cause: unknown) => {
    throw new LedgerMisconfigured('libsql has no build for this platform: give a databaseUrl of a server', { cause });
  });
  await mkdir(dirname(path), { recursive: true });
  const database = new Sqlite(path);
  try {
    database.exec(`PRAGMA busy_timeout = ${BUSY_MS}`);
    await untilFree(() => database.exec('PRAGMA journal_mode = WAL'));
    // A commit is on the disk before it is answered.
    database.exec('PRAGMA synchronous = FULL');
    await untilFree(() => migrate(database));
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

function migrate(database: Database): void {
  const atOnce = database.transaction(() => {
    database.exec(MIGRATIONS_TABLE);
    const newest = first(database, 'SELECT COALESCE(MAX(version), 0) AS version FROM signalbox_migrations');
    for (const { version, statements } of migrationsAfter(readNumber(newest?.['version']))) {
      for (const statement of statements) database.exec(statement);
      database.prepare('INSERT INTO signalbox_migrations (version) VALUES (?)').run(version);
    }
  });
  atOnce.immediate();
}

/** Two that open a new file at the same instant: SQLite does not wait for the lock in every place. */
async function untilFree(work: () => unknown, tries = 20): Promise<void> {
  try {
    work();
  } catch (error) {
    if (tries === 1 || !/busy|locked/i.test(String(error))) throw error;
    await new Promise((resolve) => setTimeout(resolve, 50));
    await untilFree(work, tries - 1);
  }
}
