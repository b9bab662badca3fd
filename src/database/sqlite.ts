/** The embedded database: one file, through libsql. Only what better-sqlite3 has as well is used of it. */

import { statSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Database as File } from 'libsql';
import { SerialQueue } from '../support/async/serial-queue.ts';
import { type Database, type Queries, type Row, readNumber, type Value } from './database.ts';
import { closedError, createErrorTranslator } from './driver-errors.ts';
import { loadSqlite } from './libsql.ts';
import { migrationsAfter, migrationsTable } from './migrations.ts';

/** Another process holds the lock for one commit. */
const BUSY_MS = 1_000;
/** This one looks again, and goes on with its other work meanwhile: to wait inside of SQLite is to stand still. */
const AGAIN_MS = 10;

/** What SQLite says of a statement, not of its file or of whoever else has it open. */
const translated = createErrorTranslator((error) =>
  /^SQLITE_(ERROR|CONSTRAINT|MISMATCH|TOOBIG|RANGE)/.test(String(Object(error).code)),
);

export function createSqliteDatabase(path: string, clock: { now(): number } = Date): Database {
  // What shares the one connection must not come into the middle of another's transaction.
  const queue = new SerialQueue();
  let opened: { readonly file: File; readonly id: string } | undefined;
  /** Kept, so that nobody closes them: SQLite would take away the log of the file that is there now. */
  const abandoned: File[] = [];
  let isClosed = false;

  const open = async (): Promise<File> => {
    if (isClosed) throw closedError();
    if (opened !== undefined && opened.id === fileAt(path)) return opened.file;
    // Whoever restores a backup puts another file in its place, and this process would go on writing to one without a name.
    if (opened !== undefined) abandoned.push(opened.file);
    opened = undefined;
    const file = await translated(openFile(path));
    opened = { file, id: fileAt(path) };
    return file;
  };

  return {
    name: `sqlite at ${path}`,
    dialect: 'sqlite',
    open: () => queue.run(async () => void (await open())),
    async now() {
      if (isClosed) throw closedError();
      return clock.now();
    },
    rows: (sql, values) => queue.run(async () => queriesOn(await open()).rows(sql, values)),
    run: (sql, values) => queue.run(async () => queriesOn(await open()).run(sql, values)),
    transaction: (work) => queue.run(async () => transaction(await open(), work)),
    close: () =>
      queue.run(async () => {
        isClosed = true;
        if (opened === undefined) return;
        const { file } = opened;
        opened = undefined;
        try {
          file.exec(`PRAGMA busy_timeout = ${BUSY_MS}`);
          // libsql leaves the log behind, and whoever copies the file alone would miss what is in it.
          file.exec('PRAGMA wal_checkpoint(TRUNCATE)');
        } finally {
          file.close();
        }
      }),
  };
}

const queriesOn = (file: File): Queries => ({
  rows: (sql, values) => translated(untilFree(rowsOf(file, sql, values))),
  run: (sql, values) => translated(untilFree(runOf(file, sql, values))),
});

async function transaction<T>(file: File, work: (queries: Queries) => Promise<T>): Promise<T> {
  // The right to write is asked for at the beginning: who comes in the middle with it may be refused for good.
  await translated(untilFree(() => file.exec('BEGIN IMMEDIATE')));
  try {
    const result = await work(queriesOn(file));
    await translated(untilFree(() => file.exec('COMMIT')));
    return result;
  } catch (error) {
    // SQLite may have done it by itself, such as on a full disk.
    if (file.inTransaction) file.exec('ROLLBACK');
    throw error;
  }
}

/** Not by `get()`: in libsql it gives an empty row for none. */
const rowsOf =
  (file: File, sql: string, values: readonly Value[] = []) =>
  (): Row[] =>
    file.prepare(sql).all(...values) as Row[]; // rows are objects by column

const runOf =
  (file: File, sql: string, values: readonly Value[] = []) =>
  (): number =>
    file.prepare(sql).run(...values).changes;

/** Tells one file from another under the same name. */
function fileAt(path: string): string {
  const found = statSync(path, { throwIfNoEntry: false });
  return found === undefined ? 'none' : `${found.dev}:${found.ino}`;
}

async function openFile(path: string): Promise<File> {
  const Sqlite = await loadSqlite();
  await mkdir(dirname(path), { recursive: true });
  const file = new Sqlite(path);
  try {
    file.exec('PRAGMA busy_timeout = 0');
    await untilFree(() => file.exec('PRAGMA journal_mode = WAL'));
    // A commit is on the disk before it is answered.
    file.exec('PRAGMA synchronous = FULL');
    await untilFree(() => migrate(file));
    return file;
  } catch (error) {
    file.close();
    throw error;
  }
}

function migrate(file: File): void {
  const atOnce = file.transaction(() => {
    for (const statement of migrationsTable('sqlite')) file.exec(statement);
    const [newest] = rowsOf(file, 'SELECT COALESCE(MAX(version), 0) AS version FROM signalbox_migrations')();
    for (const { version, statements } of migrationsAfter(readNumber(newest?.['version']), 'sqlite')) {
      for (const statement of statements) file.exec(statement);
      runOf(file, 'INSERT INTO signalbox_migrations (version) VALUES (?)', [version])();
    }
  });
  atOnce.immediate();
}

/** Does it as soon as nobody else has the lock; gives up after a while. */
async function untilFree<T>(work: () => T, tries = BUSY_MS / AGAIN_MS): Promise<T> {
  try {
    return work();
  } catch (error) {
    if (tries <= 1 || !/busy|locked/i.test(String(error))) throw error;
  }
  await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
  return untilFree(work, tries - 1);
}
