/** PostgreSQL. */
import pg from 'pg';
import { once } from '../support/async/once.ts';
import { type Log, silentLog } from '../support/log.ts';
import { type Database, type Queries, readNumber, type Value } from './database.ts';
import { createErrorTranslator } from './driver-errors.ts';
import { afterMigration, migrate } from './migrations.ts';
import { locationOf } from './url.ts';

/** Time limit of one statement; when it is exceeded, its connection is closed. */
const ANSWER_MS = 1_500;
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

export function createPostgresDatabase(url: string, log: Log = silentLog): Database {
  const pool = new pg.Pool({
    connectionString: url,
    application_name: 'signalbox',
    max: 4,
    connectionTimeoutMillis: ANSWER_MS,
    query_timeout: ANSWER_MS,
    keepAlive: true,
  });
  // An `error` event without a listener ends the process. The pool listens only to idle connections, and passes theirs on.
  pool.on('connect', (client) => {
    client.on('error', (error) => log.debug({ err: error }, 'a connection to PostgreSQL was lost'));
  });
  pool.on('error', () => {});
  const migrated = once(() => transaction(pool, migrateLocked));

  const ready = <T>(work: () => Promise<T>): Promise<T> => afterMigration(migrated, work);
  const pooled = queriesOn(pool);
  return {
    name: `postgres at ${locationOf(url)}`,
    dialect: 'postgres',
    open: () => migrated(),
    now: async () => readNumber((await pooled.rows(NOW))[0]?.['now']),
    rows: (sql, values) => ready(() => pooled.rows(sql, values)),
    run: (sql, values) => ready(() => pooled.run(sql, values)),
    transaction: (work) => ready(() => transaction(pool, work)),
    close: () => pool.end(),
  };
}

function queriesOn(connection: pg.Pool | pg.PoolClient): Queries {
  const ask = (sql: string, values: readonly Value[] = []) => translated(connection.query(numbered(sql), [...values]));
  return {
    rows: async (sql, values) => (await ask(sql, values)).rows,
    run: async (sql, values) => (await ask(sql, values)).rowCount ?? 0,
  };
}

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

/** Closes a connection whose transaction failed: it may still be in the middle of it. */
async function transaction<T>(pool: pg.Pool, work: (queries: Queries) => Promise<T>): Promise<T> {
  const client = await translated(pool.connect());
  try {
    // Durable: with synchronous_commit off, the server answers before a commit is on disk.
    await translated(client.query('BEGIN; SET LOCAL synchronous_commit TO on'));
    const result = await work(queriesOn(client));
    await translated(client.query('COMMIT'));
    client.release();
    return result;
  } catch (error) {
    client.release(true);
    throw error;
  }
}
