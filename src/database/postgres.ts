/** PostgreSQL. */
import pg from 'pg';
import { type Log, silentLog } from '../support/log.ts';
import { type Database, type Queries, readNumber, type Value } from './database.ts';
import { migrationsAfter, migrationsTable } from './migrations.ts';
import { once } from './once.ts';
import { addressOf } from './where.ts';

/** An answer that takes longer is given up, and its connection with it. */
const ANSWER_MS = 1_500;
/** Whoever starts at the same time waits here for its turn. Any number that nobody else uses. */
const MIGRATION_LOCK = 7_446_215_903;

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
  // A connection that is lost while nobody uses it would end the process.
  pool.on('error', (error) => log.debug({ err: error }, 'a connection to PostgreSQL was lost'));
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

  const lone = queriesOn(pool);
  return {
    name: `postgres at ${addressOf(url)}`,
    dialect: 'postgres',
    open: () => opened(),
    now: async () => readNumber((await pool.query(NOW)).rows[0]?.now),
    rows: (sql, values) => ready(() => lone.rows(sql, values)),
    run: (sql, values) => ready(() => lone.run(sql, values)),
    transaction: (work) => ready(() => transaction(pool, (client) => work(queriesOn(client)))),
    close: () => pool.end(),
  };
}

function queriesOn(connection: pg.Pool | pg.PoolClient): Queries {
  const ask = (sql: string, values: readonly Value[] = []) => connection.query(numbered(sql), [...values]);
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

async function migrate(client: pg.PoolClient): Promise<void> {
  await client.query('SELECT pg_advisory_xact_lock($1)', [MIGRATION_LOCK]);
  for (const statement of migrationsTable('postgres')) await client.query(statement);
  const newest = await client.query('SELECT COALESCE(MAX(version), 0) AS version FROM signalbox_migrations');
  for (const { version, statements } of migrationsAfter(readNumber(newest.rows[0]?.version), 'postgres')) {
    for (const statement of statements) await client.query(statement);
    await client.query('INSERT INTO signalbox_migrations (version) VALUES ($1)', [version]);
  }
}

/** A connection whose transaction failed is not used again: what it is in the middle of is not known. */
async function transaction<T>(pool: pg.Pool, work: (client: pg.PoolClient) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  try {
    // A server that answers before a commit is on its disk may forget it.
    await client.query('BEGIN; SET LOCAL synchronous_commit TO on');
    const result = await work(client);
    await client.query('COMMIT');
    client.release();
    return result;
  } catch (error) {
    client.release(true);
    throw error;
  }
}
