/** MySQL or MariaDB. The driver, mysql2, is an optional dependency that the application installs. */
import type { Pool, PoolConnection, ResultSetHeader, RowDataPacket } from 'mysql2/promise';
import { once } from '../support/async/once.ts';
import { type Log, silentLog } from '../support/log.ts';
import { type Database, DatabaseMisconfigured, type Queries, type Row, readNumber, type Value } from './database.ts';
import { closedError, createErrorTranslator } from './driver-errors.ts';
import { afterMigration, migrate } from './migrations.ts';
import { locationOf } from './url.ts';

/** Time limit of one statement; when it is exceeded, its connection is closed. */
const ANSWER_MS = 1_500;
const MIGRATION_LOCK = 'signalbox migrations';
const MIGRATION_WAIT_S = 10;

/**
 * Errors of the server's state, not of the statement: lost connections, conflicts that were rolled back, operator
 * intervention, no disk space or memory, lock timeouts, read-only mode.
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
 * SQL injection: the driver escapes values with backslashes, so the mode NO_BACKSLASH_ESCAPES must be off. And strict: a
 * value that does not fit is refused, not truncated.
 */
const MODE = `SET SESSION sql_mode = 'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION'`;

export function createMysqlDatabase(url: string, log: Log = silentLog): Database {
  let pool: Promise<Pool> | undefined;
  let isClosed = false;
  /** Keeps the promise, so that concurrent first calls share one pool. */
  const connected = async (): Promise<Pool> => {
    if (isClosed) throw closedError();
    pool ??= createPool(url);
    return pool;
  };
  const migrated = once(async () => withConnection(await connected(), (connection) => migrateLocked(connection, log)));

  const ready = <T>(work: (connection: PoolConnection) => Promise<T>): Promise<T> =>
    afterMigration(migrated, async () => withConnection(await connected(), work));

  return {
    name: `mysql at ${locationOf(url)}`,
    dialect: 'mysql',
    open: () => migrated(),
    now: async () => withConnection(await connected(), async (it) => readNumber((await rows(it, NOW))[0]?.['now'])),
    rows: (sql, values) => ready((connection) => rows(connection, sql, values)),
    run: (sql, values) => ready((connection) => run(connection, sql, values)),
    transaction: (work) => ready((connection) => transaction(connection, work)),
    async close() {
      isClosed = true;
      // A pool that could not be created has nothing to close.
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
  const result = await work(queriesOn(connection));
  await ask(connection, 'COMMIT');
  return result;
}

const queriesOn = (connection: PoolConnection): Queries => ({
  rows: (sql, values) => rows(connection, sql, values),
  run: (sql, values) => run(connection, sql, values),
});

async function migrateLocked(connection: PoolConnection, log: Log): Promise<void> {
  await warnOfUnsafeCommits(connection, log);
  const [locked] = await rows(connection, 'SELECT GET_LOCK(?, ?) AS locked', [MIGRATION_LOCK, MIGRATION_WAIT_S]);
  if (readNumber(locked?.['locked']) !== 1) throw new Error('another node has been creating the tables for too long');
  try {
    await migrate(queriesOn(connection), 'mysql');
  } finally {
    await ask(connection, 'SELECT RELEASE_LOCK(?)', [MIGRATION_LOCK]);
  }
}

async function warnOfUnsafeCommits(connection: PoolConnection, log: Log): Promise<void> {
  const [row] = await rows(connection, 'SELECT @@innodb_flush_log_at_trx_commit AS value');
  if (readNumber(row?.['value']) === 1) return;
  log.warn('innodb_flush_log_at_trx_commit is not 1: a crash of the database server can make it forget leases');
}

/** Connections whose mode is set. Keyed by the inner connection, because the pool wraps it anew for every caller. */
const inMode = new WeakSet<object>();

/** Closes a connection on which something failed: it may be in the middle of a transaction. */
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
  const waitMs = sql.includes('GET_LOCK') ? MIGRATION_WAIT_S * 1_000 : 0;
  const [result] = await translated(connection.query({ sql, timeout: ANSWER_MS + waitMs }, [...values]));
  return result;
}

async function rows(connection: PoolConnection, sql: string, values?: readonly Value[]): Promise<Row[]> {
  return (await ask(connection, sql, values)) as RowDataPacket[]; // the result of a SELECT
}

async function run(connection: PoolConnection, sql: string, values?: readonly Value[]): Promise<number> {
  const { affectedRows } = (await ask(connection, sql, values)) as ResultSetHeader; // the result of any other statement
  return affectedRows;
}
