/** The ledger in PostgreSQL. */
import pg from 'pg';
import { type Log, silentLog } from '../support/log.ts';
import { LEAP, type Lease, type LeaseAsk, type Ledger, readNumber } from './ledger.ts';
import { MIGRATIONS_TABLE, migrationsAfter } from './migrations.ts';
import { once } from './once.ts';
import { addressOf } from './where.ts';

/** An answer that takes longer is given up, and its connection with it. */
const ANSWER_MS = 1_500;
/** Whoever starts at the same time waits here for its turn. Any number that nobody else uses. */
const MIGRATION_LOCK = 7_446_215_903;

const HIGHEST = 'SELECT highest FROM signalbox_records WHERE prefix = $1 AND year = $2';
const LEASE = `
  INSERT INTO signalbox_seeds AS kept (prefix, year, seed, previous) VALUES ($1, $2, $3::bigint + $5::bigint, 0)
  ON CONFLICT (prefix, year) DO UPDATE SET
    previous = kept.seed,
    seed = CASE WHEN kept.seed < $4::bigint THEN $3::bigint ELSE kept.seed END + $5::bigint
  RETURNING seed, previous`;
const RECORD = `
  INSERT INTO signalbox_records AS kept (prefix, year, highest) VALUES ($1, $2, $3)
  ON CONFLICT (prefix, year) DO UPDATE SET highest = GREATEST(kept.highest, excluded.highest)`;
const NOW = 'SELECT FLOOR(EXTRACT(EPOCH FROM clock_timestamp()) * 1000)::bigint AS now';

export function createPostgresLedger(url: string, log: Log = silentLog): Ledger {
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

  return {
    name: `postgres at ${addressOf(url)}`,
    open: () => opened(),
    now: async () => readNumber((await pool.query(NOW)).rows[0]?.now),
    lease: (ask) => ready(() => transaction(pool, (client) => leaseIn(client, ask))),
    record: (marks) =>
      ready(async () => {
        for (const { prefix, year, sequence } of marks) await pool.query(RECORD, [prefix, year, sequence]);
      }),
    close: () => pool.end(),
  };
}

async function leaseIn(client: pg.PoolClient, { prefix, year, step, floor: asked }: LeaseAsk): Promise<Lease> {
  // A server that answers before a commit is on its disk may forget it.
  await client.query('SET LOCAL synchronous_commit TO on');
  const kept = (await client.query(HIGHEST, [prefix, year])).rows[0];
  const floor = Math.max(asked, kept === undefined ? 0 : readNumber(kept.highest));
  const from = floor === 0 ? 0 : floor + LEAP;
  const row = (await client.query(LEASE, [prefix, year, from, floor, step])).rows[0];
  const last = readNumber(row?.seed);
  return { first: last - step + 1, last, seed: readNumber(row?.previous), floor };
}

async function migrate(client: pg.PoolClient): Promise<void> {
  await client.query('SELECT pg_advisory_xact_lock($1)', [MIGRATION_LOCK]);
  await client.query(MIGRATIONS_TABLE);
  const newest = await client.query('SELECT COALESCE(MAX(version), 0) AS version FROM signalbox_migrations');
  for (const { version, statements } of migrationsAfter(readNumber(newest.rows[0]?.version))) {
    for (const statement of statements) await client.query(statement);
    await client.query('INSERT INTO signalbox_migrations (version) VALUES ($1)', [version]);
  }
}

/** A connection whose transaction failed is not used again: what it is in the middle of is not known. */
async function transaction<T>(pool: pg.Pool, work: (client: pg.PoolClient) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  try {
    await client.query('BEGIN');
    const result = await work(client);
    await client.query('COMMIT');
    client.release();
    return result;
  } catch (error) {
    client.release(true);
    throw error;
  }
}
