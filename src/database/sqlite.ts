/** SQLite, the embedded database: one file, through libsql. Uses only the part of libsql that better-sqlite3 has too. */

import { statSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Database as File } from 'libsql';
import { SerialQueue } from '../support/async/serial-queue.ts';
import { type Clock, systemClock } from '../support/clock.ts';
import { type Log, silentLog } from '../support/log.ts';
import { makePrivateDirectory, makePrivateFile } from '../support/private-files.ts';
import { type Database, type Queries, type Row, readNumber, type Value } from './database.ts';
import { closedError, createErrorTranslator } from './driver-errors.ts';
import { loadSqlite } from './libsql.ts';
import { INSERT_VERSION, migrationsAfter, migrationsTable, SELECT_VERSION } from './migrations.ts';

/** How long to wait for a lock: another process holds it for one commit. */
const BUSY_MS = 1_000;
/** Interval between attempts. The wait is ours, not SQLite's own busy timeout, which would block the process. */
const RETRY_MS = 10;

/** Errors of the statement itself, not of the file or its locks. */
const translated = createErrorTranslator((error) =>
  /^SQLITE_(ERROR|CONSTRAINT|MISMATCH|TOOBIG|RANGE)/.test(String(Object(error).code)),
);

type SqliteClock = Pick<Clock, 'now' | 'after'>;

export const createSqliteDatabase = (path: string, log: Log = silentLog, clock: SqliteClock = systemClock): Database =>
  new SqliteDatabase(path, log, clock);

class SqliteDatabase implements Database {
  readonly name: string;
  readonly dialect = 'sqlite';
  readonly #path: string;
  readonly #log: Log;
  readonly #clock: SqliteClock;
  /** One connection for all callers: no statement may enter the transaction of another caller. */
  readonly #queue = new SerialQueue();
  #opened: { readonly file: File; readonly id: string } | undefined;
  /** Replaced files. Kept open, because closing one makes SQLite delete the write-ahead log of the new file. */
  readonly #replaced: File[] = [];
  #isClosed = false;

  constructor(path: string, log: Log, clock: SqliteClock) {
    this.name = `sqlite at ${path}`;
    this.#path = path;
    this.#log = log;
    this.#clock = clock;
  }

  open(): Promise<void> {
    return this.#queue.run(async () => void (await this.#file()));
  }

  async now(): Promise<number> {
    if (this.#isClosed) throw closedError();
    return this.#clock.now();
  }

  rows(sql: string, values?: readonly Value[]): Promise<Row[]> {
    return this.#queue.run(async () => queriesOn(await this.#file(), this.#clock).rows(sql, values));
  }

  run(sql: string, values?: readonly Value[]): Promise<number> {
    return this.#queue.run(async () => queriesOn(await this.#file(), this.#clock).run(sql, values));
  }

  transaction<T>(work: (queries: Queries) => Promise<T>): Promise<T> {
    return this.#queue.run(async () => transaction(await this.#file(), this.#clock, work));
  }

  close(): Promise<void> {
    return this.#queue.run(async () => {
      this.#isClosed = true;
      if (this.#opened === undefined) return;
      const { file } = this.#opened;
      this.#opened = undefined;
      try {
        file.exec(`PRAGMA busy_timeout = ${BUSY_MS}`);
        // libsql leaves the write-ahead log behind; a copy of the file alone would lack its contents.
        file.exec('PRAGMA wal_checkpoint(TRUNCATE)');
      } finally {
        file.close();
      }
    });
  }

  /** The open file; opened again when another one has its name, because a backup was put in its place. */
  async #file(): Promise<File> {
    if (this.#isClosed) throw closedError();
    if (this.#opened !== undefined && this.#opened.id === fileIdAt(this.#path)) return this.#opened.file;
    if (this.#opened !== undefined) this.#replaced.push(this.#opened.file);
    this.#opened = undefined;
    const file = await translated(openFile(this.#path, this.#log, this.#clock));
    this.#opened = { file, id: fileIdAt(this.#path) };
    return file;
  }
}

const queriesOn = (file: File, clock: SqliteClock): Queries => ({
  rows: (sql, values) => translated(untilUnlocked(clock, rowsOf(file, sql, values))),
  run: (sql, values) => translated(untilUnlocked(clock, runOf(file, sql, values))),
});

async function transaction<T>(file: File, clock: SqliteClock, work: (queries: Queries) => Promise<T>): Promise<T> {
  // IMMEDIATE takes the write lock first: a read transaction that becomes a write one later may be refused for good.
  await translated(untilUnlocked(clock, () => file.exec('BEGIN IMMEDIATE')));
  try {
    const result = await work(queriesOn(file, clock));
    await translated(untilUnlocked(clock, () => file.exec('COMMIT')));
    return result;
  } catch (error) {
    // SQLite may have rolled back by itself, for instance on a full disk.
    if (file.inTransaction) file.exec('ROLLBACK');
    throw error;
  }
}

/** Uses `all()`: for no row, `get()` of libsql returns an empty one. */
const rowsOf =
  (file: File, sql: string, values: readonly Value[] = []) =>
  (): Row[] =>
    file.prepare(sql).all(...values) as Row[]; // rows are objects by column

const runOf =
  (file: File, sql: string, values: readonly Value[] = []) =>
  (): number =>
    file.prepare(sql).run(...values).changes;

/** Identity of the file that has this name now. */
function fileIdAt(path: string): string {
  const found = statSync(path, { throwIfNoEntry: false });
  return found === undefined ? 'none' : `${found.dev}:${found.ino}`;
}

const IN_MEMORY = ':memory:';

async function openFile(path: string, log: Log, clock: SqliteClock): Promise<File> {
  const Sqlite = await loadSqlite();
  if (path !== IN_MEMORY) {
    makePrivateDirectory(dirname(path));
    makePrivateFile(path, log);
  }
  const file = new Sqlite(path);
  try {
    file.exec('PRAGMA busy_timeout = 0');
    await untilUnlocked(clock, () => file.exec('PRAGMA journal_mode = WAL'));
    // A commit is on disk before it returns.
    file.exec('PRAGMA synchronous = FULL');
    await untilUnlocked(clock, () => migrateFile(file));
    return file;
  } catch (error) {
    file.close();
    throw error;
  }
}

/** As `migrate` of migrations.ts, in one synchronous transaction. */
function migrateFile(file: File): void {
  const apply = file.transaction(() => {
    for (const statement of migrationsTable('sqlite')) file.exec(statement);
    const [newest] = rowsOf(file, SELECT_VERSION)();
    for (const { version, statements } of migrationsAfter(readNumber(newest?.['version']), 'sqlite')) {
      for (const statement of statements) file.exec(statement);
      runOf(file, INSERT_VERSION, [version])();
    }
  });
  apply.immediate();
}

/** Retries while another process holds the lock; gives up after a while. */
async function untilUnlocked<T>(clock: SqliteClock, work: () => T, tries = BUSY_MS / RETRY_MS): Promise<T> {
  try {
    return work();
  } catch (error) {
    if (tries <= 1 || !/busy|locked/i.test(String(error))) throw error;
  }
  await new Promise<void>((resolve) => clock.after(RETRY_MS, resolve));
  return untilUnlocked(clock, work, tries - 1);
}
