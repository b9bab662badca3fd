/** PostgreSQL. */
import pg from 'pg';
import { once } from '../support/async/once.ts';
import { type Log, silentLog } from '../support/log.ts';
import { type Database, DatabaseUnavailable, type Queries, type Row, readNumber, type Value } from './database.ts';
import { createErrorTranslator } from './driver-errors.ts';
import { afterMigration, isMigrated, migrate } from './migrations.ts';
import { ANSWER_MS, answerMsOf, IDLE_MS, LOCK_MS, MIGRATION_STATEMENT_MS, STATEMENT_MS } from './time-limits.ts';
import { locationOf } from './url.ts';

/** Advisory lock: nodes that start at the same time migrate one after the other. An arbitrary number. */
const MIGRATION_LOCK = 7_446_215_903;

/**
 * SQLSTATE classes of the server's state, not of the statement: connection, authorization, unknown database, rollback by a
 * conflict, resources, object in use, operator intervention, system error.
 */
const OUTAGE = /^(08|25|28|3D|40|53|55|57|58|XX)/;
const translated = createErrorTranslator(
  (error) => error instanceof pg.DatabaseError && !OUTAGE.test(error.code ?? '08'),
);

const NOW = 'SELECT FLOOR(EXTRACT(EPOCH FROM clock_timestamp()) * 1000)::bigint AS now';

/**
 * The server's limits are settings of the transaction: a pooler such as PgBouncer refuses unknown parameters of a
 * connection, and would hand settings of a session on to other programs. Durable: with synchronous_commit off, the
 * server answers before a commit is on disk.
 */
const begin = (statementMs: number): string =>
  `BEGIN; SET LOCAL synchronous_commit TO on; SET LOCAL lock_timeout TO ${LOCK_MS};
  SET LOCAL statement_timeout TO ${statementMs}; SET LOCAL idle_in_transaction_session_timeout TO ${IDLE_MS}`;

/**
 * The server closes idle connections of a dead client after some seconds. Settings that this server lacks are left out. They are
 * of the session, so a pooler may hand them on: they concern its own connection, and no statement.
 */
const KEEP_ALIVE = `SELECT set_config(name, wanted, false) FROM pg_settings JOIN (VALUES ('tcp_keepalives_idle', '10'),
  ('tcp_keepalives_interval', '5'), ('tcp_keepalives_count', '3'), ('tcp_user_timeout', '15000')) w(n, wanted) ON n = name`;

export function createPostgresDatabase(url: string, log: Log = silentLog): Database {
  const pool = new pg.Pool({
    connectionString: url,
    application_name: 'signalbox',
    max: 4,
    connectionTimeoutMillis: ANSWER_MS,
    keepAlive: true,
    // No server must support it.
    onConnect: (client) => asker(client, ANSWER_MS)(KEEP_ALIVE).then(ignored, ignored),
  });
  // An `error` event without a listener ends the process. The pool listens only to idle connections, and passes theirs on.
  pool.on('connect', (client) => {
    client.on('error', (error) => log.debug({ err: error }, 'a connection to PostgreSQL was lost'));
  });
  pool.on('error', () => {});
  const migrated = once(async () => {
    // In a transaction of its own, which a refused statement ends.
    if (await transaction(pool, (queries) => isMigrated(queries, 'postgres'))) return;
    await transaction(pool, migrateLocked, MIGRATION_STATEMENT_MS);
  });

  const ready = <T>(work: (queries: Queries) => Promise<T>): Promise<T> =>
    afterMigration(migrated, () => transaction(pool, work));
  return {
    name: `postgres at ${locationOf(url)}`,
    dialect: 'postgres',
    open: () => migrated(),
    now: async () => readNumber((await transaction(pool, (queries) => queries.rows(NOW)))[0]?.['now']),
    rows: (sql, values) => ready((queries) => queries.rows(sql, values)),
    run: (sql, values) => ready((queries) => queries.run(sql, values)),
    transaction: ready,
    close: () => pool.end(),
  };
}

type Ask = (sql: string, values?: readonly Value[]) => Promise<pg.QueryResult<Row>>;

/** @param answerMs goes with each query: the driver would let an option of the same name in the URL replace it. */
const asker =
  (client: pg.ClientBase, answerMs: number): Ask =>
  (text, values = []) => {
    const query: pg.QueryConfig & { readonly query_timeout: number } = {
      text,
      values: [...values],
      query_timeout: answerMs,
    };
    return translated(client.query<Row>(query));
  };

const queriesOn = (ask: Ask): Queries => ({
  rows: async (sql, values) => (await ask(numbered(sql), values)).rows,
  run: async (sql, values) => (await ask(numbered(sql), values)).rowCount ?? 0,
});

/** Replaces `?` by PostgreSQL's placeholders `$1`, `$2` and so on. */
function numbered(sql: string): string {
  let count = 0;
  return sql.replaceAll('?', () => {
    count += 1;
    return `$${count}`;
  });
}

async function migrateLocked(queries: Queries): Promise<void> {
  await queries.rows('SELECT pg_advisory_xact_lock(?)', [MIGRATION_LOCK]);
  await migrate(queries, 'postgres');
}

async function transaction<T>(
  pool: pg.Pool,
  work: (queries: Queries) => Promise<T>,
  statementMs = STATEMENT_MS,
): Promise<T> {
  const client = await translated(pool.connect());
  const ask = asker(client, answerMsOf(statementMs));
  try {
    await ask(begin(statementMs));
    const result = await work(queriesOn(ask));
    await ask('COMMIT');
    client.release();
    return result;
  } catch (error) {
    client.release(!(await isRolledBack(ask, error)));
    throw error;
  }
}

/**
 * Keeps the connection when the server has answered: closing it would leave one more than the pool in the server, until
 * the server has noticed.
 */
async function isRolledBack(ask: Ask, error: unknown): Promise<boolean> {
  if (error instanceof DatabaseUnavailable && !(error.cause instanceof pg.DatabaseError)) return false;
  return ask('ROLLBACK').then(
    () => true,
    () => false,
  );
}

const ignored = (): void => {};
