/** MySQL or MariaDB. The driver, mysql2, is installed by those who use it. */
import type { Pool, PoolConnection, ResultSetHeader, RowDataPacket } from 'mysql2/promise';
import { once } from '../support/async/once.ts';
import { type Log, silentLog } from '../support/log.ts';
import { type Database, DatabaseMisconfigured, type Queries, type Row, readNumber, type Value } from './database.ts';
import { closedError, createErrorTranslator } from './driver-errors.ts';
import { migrationsAfter, migrationsTable } from './migrations.ts';
import { locationOf } from './url.ts';

/** An answer that takes longer is given up, and its connection with it. */
const ANSWER_MS = 1_500;
const MIGRATION_LOCK = 'signalbox migrations';
const MIGRATION_WAIT_S = 10;

/**
 * What says nothing of the statement, of what a server answers at all: its connection, a conflict that was rolled back,
 * an operator; no room on the disk or in memory, a lock that is not given back, no writing for now.
 */
const OUTAGE = /^(08|40|70)/;
const OUTAGES = [1020, 1021, 1037, 1038, 1041, 1114, 1180, 1205, 1290, 1792, 1836];
const connectionOnly = createErrorTranslator(() => false);
const translated = createErrorTranslator((error) => {
  const { sqlState, errno } = Object(error);
  return typeof sqlState === 'string' && !OUTAGE.test(sqlState) && !OUTAGES.includes(errno);
});

const NOW = `SELECT TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(3)) DIV 1000 AS now`;
/**
 * The driver writes values into the text of a statement, with backslashes: a server that is told to take those for
 * letters would read a name as a statement. And what does not fit is refused, not cut off.
 */
const MODE = `SET SESSION sql_mode = 'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION'`;

export function createMysqlDatabase(url: string, log: Log = silentLog): Database {
  let pool: Promise<Pool> | undefined;
  let isClosed = false;
  /** The promise is kept, not the pool: several that ask at first would make one each. */
  const connected = async (): Promise<Pool> => {
    if (isClosed) throw closedError();
    pool ??= createPool(url);
    return pool;
  };
  const opened = once(async () => withConnection(await connected(), (connection) => migrate(connection, log)));

  /** Tables may be gone after a restore: whatever fails, they are looked for again. */
  const ready = async <T>(ask: (connection: PoolConnection) => Promise<T>): Promise<T> => {
    await opened();
    try {
      return await withConnection(await connected(), ask);
    } catch (error) {
      opened.forget();
      throw error;
    }
  };

  return {
    name: `mysql at ${locationOf(url)}`,
    dialect: 'mysql',
    open: () => opened(),
    now: async () => withConnection(await connected(), async (it) => readNumber((await rows(it, NOW))[0]?.['now'])),
    rows: (sql, values) => ready((connection) => rows(connection, sql, values)),
    run: (sql, values) => ready((connection) => run(connection, sql, values)),
    transaction: (work) => ready((connection) => transaction(connection, work)),
    async close() {
      isClosed = true;
      // One that could not be made has nothing to close.
      const made = await pool?.catch(() => undefined);
      await made?.end();
    },
  };
}

async function createPool(url: string): Promise<Pool> {
  const driver = await import('mysql2/promise').catch((cause: unknown) => {
    throw new DatabaseMisconfigured('MySQL needs its driver beside signalbox: npm install mysql2', { cause });
  });
  return driver.createPool({
    uri: url.replace(/^mariadb:/, 'mysql:'),
    connectionLimit: 4,
    connectTimeout: ANSWER_MS,
    supportBigNumbers: true,
    bigNumberStrings: true,
  });
}

async function transaction<T>(connection: PoolConnection, work: (queries: Queries) => Promise<T>): Promise<T> {
  await ask(connection, 'START TRANSACTION');
  const result = await work({
    rows: (sql, values) => rows(connection, sql, values),
    run: (sql, values) => run(connection, sql, values),
  });
  await ask(connection, 'COMMIT');
  return result;
}

async function migrate(connection: PoolConnection, log: Log): Promise<void> {
  await warnOfUnsafeCommits(connection, log);
  const [locked] = await rows(connection, 'SELECT GET_LOCK(?, ?) AS locked', [MIGRATION_LOCK, MIGRATION_WAIT_S]);
  if (readNumber(locked?.['locked']) !== 1) throw new Error('another node has been making the tables for too long');
  try {
    for (const statement of migrationsTable('mysql')) await ask(connection, statement);
    const [newest] = await rows(connection, 'SELECT COALESCE(MAX(version), 0) AS version FROM signalbox_migrations');
    for (const { version, statements } of migrationsAfter(readNumber(newest?.['version']), 'mysql')) {
      for (const statement of statements) await ask(connection, statement);
      await ask(connection, 'INSERT IGNORE INTO signalbox_migrations (version) VALUES (?)', [version]);
    }
  } finally {
    await ask(connection, 'SELECT RELEASE_LOCK(?)', [MIGRATION_LOCK]);
  }
}

async function warnOfUnsafeCommits(connection: PoolConnection, log: Log): Promise<void> {
  const [row] = await rows(connection, 'SELECT @@innodb_flush_log_at_trx_commit AS value');
  if (readNumber(row?.['value']) === 1) return;
  log.warn('innodb_flush_log_at_trx_commit is not 1: a crash of the database server can make it forget leases');
}

/** Those that are in the mode; the pool wraps each anew whenever it is asked for one. */
const inMode = new WeakSet<object>();

/** A connection on which something failed is not used again: what it is in the middle of is not known. */
async function withConnection<T>(pool: Pool, work: (connection: PoolConnection) => Promise<T>): Promise<T> {
  const connection = await connectionOnly(pool.getConnection());
  try {
    if (!inMode.has(connection.connection)) await ask(connection, MODE);
    inMode.add(connection.connection);
    const result = await work(connection);
    connection.release();
    return result;
  } catch (error) {
    connection.destroy();
    throw error;
  }
}

async function ask(connection: PoolConnection, sql: string, values: readonly Value[] = []): Promise<unknown> {
  const longer = sql.includes('GET_LOCK') ? MIGRATION_WAIT_S * 1_000 : 0;
  const [result] = await translated(connection.query({ sql, timeout: ANSWER_MS + longer }, [...values]));
  return result;
}

async function rows(connection: PoolConnection, sql: string, values?: readonly Value[]): Promise<Row[]> {
  return (await ask(connection, sql, values)) as RowDataPacket[]; // what a SELECT answers
}

async function run(connection: PoolConnection, sql: string, values?: readonly Value[]): Promise<number> {
  const { affectedRows } = (await ask(connection, sql, values)) as ResultSetHeader; // what any other answers
  return affectedRows;
}
