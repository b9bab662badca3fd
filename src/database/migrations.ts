/**
 * Schema migrations, applied once each in order. Every step is idempotent: MySQL commits each DDL statement by itself, so
 * a node may die between a step and the row that records it.
 */
import type { Once } from '../support/async/once.ts';
import { DatabaseUnavailable, type Dialect, type Queries, readNumber } from './database.ts';
import { createTable, renameTable, type Table } from './ddl.ts';

/** The ledger of references. */
const LEDGER: readonly Table[] = [
  {
    // `seed` is the last number leased; `previous` the one before the last lease.
    name: 'signalbox_seeds',
    columns: [
      'prefix VARCHAR(16) NOT NULL',
      'year INTEGER NOT NULL',
      'seed BIGINT NOT NULL',
      'previous BIGINT NOT NULL',
    ],
    key: ['prefix', 'year'],
  },
  {
    // The highest reference found in application records.
    name: 'signalbox_records',
    columns: ['prefix VARCHAR(16) NOT NULL', 'year INTEGER NOT NULL', 'highest BIGINT NOT NULL'],
    key: ['prefix', 'year'],
  },
];

const PARTICIPANTS: Table = {
  name: 'signalbox_participants',
  columns: [
    'ref TEXT(64) NOT NULL',
    'seq INTEGER NOT NULL',
    'user_id TEXT(64) NOT NULL',
    'name TEXT(255)',
    'joined_at BIGINT NOT NULL',
    'left_at BIGINT',
    'reason TEXT(32)',
    'media_type TEXT(64)',
    // Creation instant of the call, repeated here so that an index lists a user's calls newest first.
    'called_at BIGINT NOT NULL',
  ],
  key: ['ref', 'seq'],
  indexes: { by_user: ['user_id', 'ref'], by_call: ['user_id', 'called_at', 'ref'] },
};

/** Call records. Instants are milliseconds since 1970. */
const CALLS: readonly Table[] = [
  {
    name: 'signalbox_calls',
    columns: [
      'ref TEXT(64) NOT NULL',
      'code TEXT(16) NOT NULL',
      'type TEXT(64) NOT NULL',
      'name TEXT(255)',
      'created_at BIGINT NOT NULL',
      'expires_at BIGINT NOT NULL',
      'ended_at BIGINT',
      'reason TEXT(32)',
      'host_id TEXT(64)',
      'created_by TEXT(64)',
      // Present members.
      'members INTEGER NOT NULL',
      'peak_members INTEGER NOT NULL',
      'total_members INTEGER NOT NULL',
      'complete INTEGER NOT NULL',
      // Revision, timestamp and feed of the last event in the record.
      'rev BIGINT NOT NULL',
      'last_at BIGINT NOT NULL',
      'feed TEXT(190) NOT NULL',
    ],
    key: ['ref'],
    indexes: {
      by_time: ['created_at', 'ref'],
      by_code: ['code', 'created_at', 'ref'],
      // Ongoing calls have a null end and are sorted by their latest possible end.
      by_end: ['ended_at', 'expires_at'],
    },
  },
  PARTICIPANTS,
  {
    // Separate from the calls: counting signals neither waits for the recorder nor needs the call to be recorded.
    name: 'signalbox_signals',
    columns: ['ref TEXT(64) NOT NULL', 'signals BIGINT NOT NULL', 'counted_at BIGINT NOT NULL'],
    key: ['ref'],
    indexes: { by_time: ['counted_at'] },
  },
  {
    // Position of each feed, and what was dropped unread. Processes that count signals have a row of their own, too.
    name: 'signalbox_feeds',
    columns: [
      'feed TEXT(190) NOT NULL',
      // A position per stream, for a feed of several streams.
      'place TEXT(8000) NOT NULL',
      'lost BIGINT NOT NULL',
      'lost_signals BIGINT NOT NULL',
      'moved_at BIGINT NOT NULL',
      'swept_at BIGINT NOT NULL',
    ],
    key: ['feed'],
  },
];

/** Version 2 had the participants of calls in this table. */
const FORMER_PARTICIPANTS = 'signalbox_sessions';

const MIGRATIONS: Table = { name: 'signalbox_migrations', columns: ['version INTEGER NOT NULL'], key: ['version'] };

export const SELECT_VERSION = 'SELECT COALESCE(MAX(version), 0) AS version FROM signalbox_migrations';
export const INSERT_VERSION = 'INSERT INTO signalbox_migrations (version) VALUES (?)';

export const migrationsTable = (dialect: Dialect): string[] => createTable(MIGRATIONS, dialect);

export interface Migration {
  readonly version: number;
  readonly statements: readonly string[];
}

/**
 * Whether there is nothing to migrate. Asked first, without a lock and within the usual limits: one step may take half an hour, and
 * so long would be waited for the answer when the link dies meanwhile.
 */
export async function isMigrated(queries: Queries, dialect: Dialect): Promise<boolean> {
  try {
    const [newest] = await queries.rows(SELECT_VERSION);
    return migrationsAfter(readNumber(newest?.['version']), dialect).length === 0;
  } catch (error) {
    if (error instanceof DatabaseUnavailable) throw error;
    // There is no such table yet.
    return false;
  }
}

/** Creates missing tables. The caller keeps other nodes from doing so at the same time. */
export async function migrate(queries: Queries, dialect: Dialect): Promise<void> {
  for (const statement of migrationsTable(dialect)) await queries.run(statement);
  const [newest] = await queries.rows(SELECT_VERSION);
  for (const { version, statements } of migrationsAfter(readNumber(newest?.['version']), dialect)) {
    for (const statement of statements) await queries.run(statement);
    await queries.run(INSERT_VERSION, [version]);
  }
}

/** Runs work on a migrated database. After any failure the migration is checked again: a restore may have removed tables. */
export async function afterMigration<T>(migrated: Once, work: () => Promise<T>): Promise<T> {
  await migrated();
  try {
    return await work();
  } catch (error) {
    migrated.forget();
    throw error;
  }
}

/** @param version of the newest step applied to the database; 0 for none */
export function migrationsAfter(version: number, dialect: Dialect): Migration[] {
  const create = (tables: readonly Table[]) => tables.flatMap((table) => createTable(table, dialect));
  const calls = version === 2 ? renameTable(FORMER_PARTICIPANTS, PARTICIPANTS, dialect) : create(CALLS);
  const steps: readonly Migration[] = [
    { version: 1, statements: create(LEDGER) },
    // Includes version 2.
    { version: 3, statements: calls },
  ];
  return steps.filter((step) => step.version > version);
}
