/** PostgreSQL. */
import pg from 'pg';
import { once } from '../support/async/once.ts';
import { type Log, silentLog } from '../support/log.ts';
import { type Database, type Queries, readNumber, type Value } from './database.ts';
import { createErrorTranslator } from './driver-errors.ts';
import { migrationsAfter, migrationsTable } from './migrations.ts';
import { locationOf } from './url.ts';

/** An answer that takes longer is given up, and its connection with it. */
const ANSWER_MS = 1_500;
/** Whoever starts at the same time waits here for its turn. Any number that nobody else uses. */
const MIGRATION_LOCK = 7_446_215_903;

/**
 * SQLSTATE classes that say nothing of the statement: connecting, read-only, rolled back by a conflict, no room, not now,
 * an operator, the system.
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
  // A connection that is lost would end the process: while somebody uses it, for the pool does not listen to it then, and
  // while nobody does.
  pool.on('connect', (client) => {
    client.on('error', (error) => log.debug({ err: error }, 'a connection to PostgreSQL was lost'));
  });
  pool.on('error', () => {});
  const opened = once(() => transaction(pool, migrate));

  /** Tables may be gone after a restore: whatever fails, they are looked for again. */
  const ready = async <T>(ask: () => Promise<T>): Promise<T> => {
    await opened();
    try {
      return await ask();
    } catch (error) {
      opened.forget();
      throw error;
    }
  };

  const pooled = queriesOn(pool);
  return {
    name: `postgres at ${locationOf(url)}`,
    dialect: 'postgres',
    open: () => opened(),
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

/** Its placeholders are `$1`, `$2` and so on. */
function numbered(sql: string): string {
  let count = 0;
  return sql.replaceAll('?', () => {
    count += 1;
    return `$${count}`;
  });
}

async function migrate(queries: Queries): Promise<void> {
  await queries.rows('SELECT pg_advisory_xact_lock(?)', [MIGRATION_LOCK]);
  for (const statement of migrationsTable('postgres')) await queries.run(statement);
  const [newest] = await queries.rows('SELECT COALESCE(MAX(version), 0) AS version FROM signalbox_migrations');
  for (const { version, statements } of migrationsAfter(readNumber(newest?.['version']), 'postgres')) {
    for (const statement of statements) await queries.run(statement);
    await queries.run('INSERT INTO signalbox_migrations (version) VALUES (?)', [version]);
  }
}

/** A connection whose transaction failed is not used again: what it is in the middle of is not known. */
async function transaction<T>(pool: pg.Pool, work: (queries: Queries) => Promise<T>): Promise<T> {
  const client = await translated(pool.connect());
  try {
    // A server that answers before a commit is on its disk may forget it.
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
