/** MySQL or MariaDB. The driver, mysql2, is an optional dependency that the application installs. */
import type { Pool, PoolConnection, ResultSetHeader, RowDataPacket } from 'mysql2/promise';
import { once } from '../support/async/once.ts';
import { type Log, silentLog } from '../support/log.ts';
import {
  type Database,
  DatabaseMisconfigured,
  DatabaseUnavailable,
  type Queries,
  type Row,
  readNumber,
  type Value,
} from './database.ts';
import { closedError, createErrorTranslator } from './driver-errors.ts';
import { afterMigration, isMigrated, migrate } from './migrations.ts';
import { ANSWER_MS, answerMsOf, IDLE_MS, LOCK_MS, MIGRATION_STATEMENT_MS, STATEMENT_MS } from './time-limits.ts';
import { locationOf } from './url.ts';

const MIGRATION_LOCK = 'signalbox migrations';

/**
 * Errors of the server's state, not of the statement: lost connections, conflicts that were rolled back, operator
 * intervention, no disk space or memory, lock timeouts, read-only mode.
 */
const OUTAGE = /^(08|40|70)/;
const OUTAGES = [1020, 1021, 1037, 1038, 1041, 1114, 1180, 1205, 1290, 1792, 1836, 3024];
const connectionOnly = createErrorTranslator(() => false);
const translated = createErrorTranslator((error) => {
  const { sqlState, errno } = Object(error);
  return typeof sqlState === 'string' && !OUTAGE.test(sqlState) && !OUTAGES.includes(errno);
});

const NOW = `SELECT TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(3)) DIV 1000 AS now`;
/**
 * Settings of a connection. SQL injection: the driver escapes values with backslashes, so the mode NO_BACKSLASH_ESCAPES
 * must be off. And strict: a value that does not fit is refused, not truncated. `wait_timeout` also ends a transaction
 * whose client sends nothing. The limit of a statement is another setting in MariaDB, and in MySQL one for reading only.
 */
const settings = (statementMs: number): string => `SET SESSION sql_mode = 'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION',
  SESSION innodb_lock_wait_timeout = ${LOCK_MS / 1_000}, SESSION lock_wait_timeout = ${LOCK_MS / 1_000},
  SESSION wait_timeout = ${IDLE_MS / 1_000}
  /*M!100101 , SESSION max_statement_time = ${statementMs / 1_000} */
  /*!50708 , SESSION max_execution_time = ${statementMs} */`;
/** Half of `wait_timeout`: the pool closes an idle connection before the server does, so no call finds it closed. */
const POOL_IDLE_MS = IDLE_MS / 2;

export function createMysqlDatabase(url: string, log: Log = silentLog): Database {
  let pool: Promise<Pool> | undefined;
  let isClosed = false;
  /** Keeps the promise, so that concurrent first calls share one pool. */
  const connected = async (): Promise<Pool> => {
    if (isClosed) throw closedError();
    pool ??= createPool(url);
    return pool;
  };
  const migrated = once(async () => withConnection(await connected(), (connection) => migrateWith(connection, log)));

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
    // Below the limit: otherwise the driver keeps idle connections.
    maxIdle: 3,
    idleTimeout: POOL_IDLE_MS,
    gracefulEnd: true,
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

const queriesOn = (connection: PoolConnection, statementMs = STATEMENT_MS): Queries => ({
  rows: (sql, values) => rows(connection, sql, values, statementMs),
  run: (sql, values) => run(connection, sql, values, statementMs),
});

async function migrateWith(connection: PoolConnection, log: Log): Promise<void> {
  await warnOfUnsafeCommits(connection, log);
  if (await isMigrated(queriesOn(connection), 'mysql')) return;
  await ask(connection, settings(MIGRATION_STATEMENT_MS));
  try {
    await migrateLocked(connection);
  } finally {
    // The next caller sets the usual limits again.
    prepared.delete(connection.connection);
  }
}

async function migrateLocked(connection: PoolConnection): Promise<void> {
  const [locked] = await rows(connection, 'SELECT GET_LOCK(?, ?) AS locked', [MIGRATION_LOCK, LOCK_MS / 1_000]);
  if (readNumber(locked?.['locked']) !== 1) throw new DatabaseUnavailable('another node is creating the tables');
  try {
    await migrate(queriesOn(connection, MIGRATION_STATEMENT_MS), 'mysql');
  } finally {
    await ask(connection, 'SELECT RELEASE_LOCK(?)', [MIGRATION_LOCK]);
  }
}

async function warnOfUnsafeCommits(connection: PoolConnection, log: Log): Promise<void> {
  const [row] = await rows(connection, 'SELECT @@innodb_flush_log_at_trx_commit AS value');
  if (readNumber(row?.['value']) === 1) return;
  log.warn('innodb_flush_log_at_trx_commit is not 1: a crash of the database server can make it forget leases');
}

/** Connections with their settings. Keyed by the inner connection, because the pool wraps it anew for every caller. */
const prepared = new WeakSet<object>();

async function withConnection<T>(pool: Pool, work: (connection: PoolConnection) => Promise<T>): Promise<T> {
  const connection = await connectionOnly(pool.getConnection());
  try {
    if (!prepared.has(connection.connection)) await ask(connection, settings(STATEMENT_MS));
    prepared.add(connection.connection);
    const result = await work(connection);
    connection.release();
    return result;
  } catch (error) {
    if (await isRolledBack(connection, error)) connection.release();
    else connection.destroy();
    throw error;
  }
}

/**
 * Keeps the connection when the server has answered: closing it would leave one more than the pool in the server, until
 * the server has noticed.
 */
async function isRolledBack(connection: PoolConnection, error: unknown): Promise<boolean> {
  if (error instanceof DatabaseUnavailable && typeof Object(error.cause).sqlState !== 'string') return false;
  return ask(connection, 'ROLLBACK').then(
    () => true,
    () => false,
  );
}

async function ask(
  connection: PoolConnection,
  sql: string,
  values: readonly Value[] = [],
  statementMs = STATEMENT_MS,
): Promise<unknown> {
  const [result] = await translated(connection.query({ sql, timeout: answerMsOf(statementMs) }, [...values]));
  return result;
}

async function rows(
  connection: PoolConnection,
  sql: string,
  values?: readonly Value[],
  statementMs?: number,
): Promise<Row[]> {
  return (await ask(connection, sql, values, statementMs)) as RowDataPacket[]; // the result of a SELECT
}

async function run(
  connection: PoolConnection,
  sql: string,
  values?: readonly Value[],
  statementMs?: number,
): Promise<number> {
  const result = (await ask(connection, sql, values, statementMs)) as ResultSetHeader; // of any other statement
  return result.affectedRows;
}
