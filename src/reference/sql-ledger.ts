/** The ledger in a SQL database. */
import { type Database, type Dialect, type Queries, readNumber } from '../database/database.ts';
import { type Lease, type LeaseRequest, type Ledger, SKIP_AFTER_RESTORE } from './ledger.ts';

const HIGHEST = 'SELECT highest FROM signalbox_records WHERE prefix = ? AND year = ?';

/** PostgreSQL and SQLite: one atomic statement. The right-hand sides see the row before the update. */
const LEASE = `
  INSERT INTO signalbox_seeds AS existing (prefix, year, seed, previous)
  VALUES (?, ?, CAST(? AS BIGINT) + CAST(? AS BIGINT), 0)
  ON CONFLICT (prefix, year) DO UPDATE SET
    previous = existing.seed,
    seed = CASE WHEN existing.seed < CAST(? AS BIGINT) THEN CAST(? AS BIGINT) ELSE existing.seed END + CAST(? AS BIGINT)
  RETURNING seed, previous`;
const RECORD = `
  INSERT INTO signalbox_records AS existing (prefix, year, highest) VALUES (?, ?, ?)
  ON CONFLICT (prefix, year) DO UPDATE SET
    highest = CASE WHEN existing.highest < excluded.highest THEN excluded.highest ELSE existing.highest END`;

/** MySQL has no RETURNING: the row is locked, read and updated. */
const NEW_SEED = 'INSERT IGNORE INTO signalbox_seeds (prefix, year, seed, previous) VALUES (?, ?, 0, 0)';
const SEED = 'SELECT seed FROM signalbox_seeds WHERE prefix = ? AND year = ? FOR UPDATE';
const NEXT_SEED = 'UPDATE signalbox_seeds SET previous = ?, seed = ? WHERE prefix = ? AND year = ?';
const RECORD_IN_MYSQL = `INSERT INTO signalbox_records (prefix, year, highest) VALUES (?, ?, ?)
  ON DUPLICATE KEY UPDATE highest = GREATEST(highest, VALUES(highest))`;

const LEASES: Record<Dialect, (database: Database, request: LeaseRequest) => Promise<Lease>> = {
  sqlite: leaseInOneStatement,
  postgres: leaseInOneStatement,
  mysql: leaseWithLock,
};

/** Closing it closes the database. */
export function createSqlLedger(database: Database): Ledger {
  const record = database.dialect === 'mysql' ? RECORD_IN_MYSQL : RECORD;
  return {
    name: database.name,
    open: () => database.open(),
    now: () => database.now(),
    lease: (request) => LEASES[database.dialect](database, request),
    record: (marks) =>
      database.transaction(async (queries) => {
        for (const { prefix, year, sequence } of marks) await queries.run(record, [prefix, year, sequence]);
      }),
    close: () => database.close(),
  };
}

function leaseInOneStatement(database: Database, request: LeaseRequest): Promise<Lease> {
  const { prefix, year, step } = request;
  return database.transaction(async (queries) => {
    const floor = await floorOf(queries, request);
    const from = floor === 0 ? 0 : floor + SKIP_AFTER_RESTORE;
    const [row] = await queries.rows(LEASE, [prefix, year, from, step, floor, from, step]);
    const last = readNumber(row?.['seed']);
    return { first: last - step + 1, last, seed: readNumber(row?.['previous']), floor };
  });
}

async function leaseWithLock(database: Database, request: LeaseRequest): Promise<Lease> {
  const { prefix, year, step } = request;
  // Before the transaction: two transactions that insert the same row would wait for each other.
  await database.run(NEW_SEED, [prefix, year]);
  return database.transaction(async (queries) => {
    const floor = await floorOf(queries, request);
    const [row] = await queries.rows(SEED, [prefix, year]);
    const seed = readNumber(row?.['seed']);
    const last = (seed < floor ? floor + SKIP_AFTER_RESTORE : seed) + step;
    await queries.run(NEXT_SEED, [seed, last, prefix, year]);
    return { first: last - step + 1, last, seed, floor };
  });
}

async function floorOf(queries: Queries, { prefix, year, floor: requested }: LeaseRequest): Promise<number> {
  const [row] = await queries.rows(HIGHEST, [prefix, year]);
  return Math.max(requested, row === undefined ? 0 : readNumber(row['highest']));
}
