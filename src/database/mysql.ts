/** The ledger in MySQL or MariaDB. Its driver, mysql2, is installed by those who use it. */
import type { Pool, PoolConnection, RowDataPacket } from 'mysql2/promise';
import { type Log, silentLog } from '../support/log.ts';
import { LEAP, type Lease, type LeaseAsk, type Ledger, LedgerMisconfigured, readNumber } from './ledger.ts';
import { MIGRATIONS_TABLE, migrationsAfter } from './migrations.ts';
import { once } from './once.ts';
import { addressOf } from './where.ts';

/** An answer that takes longer is given up, and its connection with it. */
const ANSWER_MS = 1_500;
const MIGRATION_LOCK = 'signalbox migrations';
const MIGRATION_WAIT_S = 10;

const HIGHEST = 'SELECT highest FROM signalbox_records WHERE prefix = ? AND year = ?';
const NEW_SEED = 'INSERT IGNORE INTO signalbox_seeds (prefix, year, seed, previous) VALUES (?, ?, 0, 0)';
const SEED = 'SELECT seed FROM signalbox_seeds WHERE prefix = ? AND year = ? FOR UPDATE';
const LEASE = 'UPDATE signalbox_seeds SET previous = ?, seed = ? WHERE prefix = ? AND year = ?';
const RECORD = `INSERT INTO signalbox_records (prefix, year, highest) VALUES (?, ?, ?)
  ON DUPLICATE KEY UPDATE highest = GREATEST(highest, VALUES(highest))`;
const NOW = `SELECT TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(3)) DIV 1000 AS now`;

export function createMysqlLedger(url: string, log: Log = silentLog): Ledger {
  let pool: Pool | undefined;
  const connected = async (): Promise<Pool> => {
    pool ??= await createPool(url);
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
    name: `mysql at ${addressOf(url)}`,
    open: () => opened(),
    now: async () => withConnection(await connected(), async (it) => readNumber((await rowOf(it, NOW))?.['now'])),
    lease: (ask) => ready((connection) => leaseIn(connection, ask)),
    record: (marks) =>
      ready(async (connection) => {
        for (const { prefix, year, sequence } of marks) await run(connection, RECORD, prefix, year, sequence);
      }),
    async close() {
      await pool?.end();
      pool = undefined;
    },
  };
}

async function createPool(url: string): Promise<Pool> {
  const driver = await import('mysql2/promise').catch((cause: unknown) => {
    throw new LedgerMisconfigured('MySQL needs its driver beside signalbox: npm install mysql2', { cause });
  });
  return driver.createPool({
    uri: url.replace(/^mariadb:/, 'mysql:'),
    connectionLimit: 4,
    connectTimeout: ANSWER_MS,
    supportBigNumbers: true,
    bigNumberStrings: true,
  });
}

async function leaseIn(connection: PoolConnection, ask: LeaseAsk): Promise<Lease> {
  const { prefix, year, step } = ask;
  const kept = await rowOf(connection, HIGHEST, prefix, year);
  const floor = Math.max(ask.floor, kept === undefined ? 0 : readNumber(kept['highest']));
  // Before the transaction: two that insert the same row inside of theirs would wait for each other.
  await run(connection, NEW_SEED, prefix, year);
  await run(connection, 'START TRANSACTION');
  const seed = readNumber((await rowOf(connection, SEED, prefix, year))?.['seed']);
  const last = (seed < floor ? floor + LEAP : seed) + step;
  await run(connection, LEASE, seed, last, prefix, year);
  await run(connection, 'COMMIT');
  return { first: last - step + 1, last, seed, floor };
}

async function migrate(connection: PoolConnection, log: Log): Promise<void> {
  await warnOfLaziness(connection, log);
  const locked = await rowOf(connection, 'SELECT GET_LOCK(?, ?) AS locked', MIGRATION_LOCK, MIGRATION_WAIT_S);
  if (readNumber(locked?.['locked']) !== 1) throw new Error('another node has been making the tables for too long');
  try {
    await run(connection, `${MIGRATIONS_TABLE} ENGINE=InnoDB`);
    const newest = await rowOf(connection, 'SELECT COALESCE(MAX(version), 0) AS version FROM signalbox_migrations');
    for (const { version, statements } of migrationsAfter(readNumber(newest?.['version']))) {
      // Another engine may know no transactions, and two leases would read the same seed.
      for (const statement of statements) await run(connection, `${statement} ENGINE=InnoDB`);
      await run(connection, 'INSERT IGNORE INTO signalbox_migrations (version) VALUES (?)', version);
    }
  } finally {
    await run(connection, 'SELECT RELEASE_LOCK(?)', MIGRATION_LOCK);
  }
}

async function warnOfLaziness(connection: PoolConnection, log: Log): Promise<void> {
  const row = await rowOf(connection, 'SELECT @@innodb_flush_log_at_trx_commit AS value');
  if (readNumber(row?.['value']) === 1) return;
  log.warn('innodb_flush_log_at_trx_commit is not 1: a crash of the database server can make it forget leases');
}

/** A connection on which something failed is not used again: what it is in the middle of is not known. */
async function withConnection<T>(pool: Pool, work: (connection: PoolConnection) => Promise<T>): Promise<T> {
  const connection = await pool.getConnection();
  try {
    const result = await work(connection);
    connection.release();
    return result;
  } catch (error) {
    connection.destroy();
    throw error;
  }
}

async function run(connection: PoolConnection, sql: string, ...values: readonly (string | number)[]): Promise<unknown> {
  const longer = sql.includes('GET_LOCK') ? MIGRATION_WAIT_S * 1_000 : 0;
  const [result] = await connection.query({ sql, timeout: ANSWER_MS + longer }, [...values]);
  return result;
}

async function rowOf(
  connection: PoolConnection,
  sql: string,
  ...values: readonly (string | number)[]
): Promise<Record<string, unknown> | undefined> {
  const rows = await run(connection, sql, ...values);
  return (rows as RowDataPacket[])[0]; // what a SELECT answers
}
