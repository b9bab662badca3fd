/**
 * The tables, as steps that are applied in their order, each once. Every step can be applied twice without harm: MySQL
 * commits each statement by itself, so a node may die between a step and the note of it.
 */
import type { Dialect } from './database.ts';
import { createTable, type Table } from './tables.ts';

/** References. */
const LEDGER: readonly Table[] = [
  {
    // What has been leased so far; `previous` is where it stood before the last lease.
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
    // The highest reference that a record carries.
    name: 'signalbox_records',
    columns: ['prefix VARCHAR(16) NOT NULL', 'year INTEGER NOT NULL', 'highest BIGINT NOT NULL'],
    key: ['prefix', 'year'],
  },
];

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
      // Now, while it lasts.
      'members INTEGER NOT NULL',
      'peak_members INTEGER NOT NULL',
      'total_members INTEGER NOT NULL',
      'complete INTEGER NOT NULL',
      // The last event that is in the record, when it was, and of which feed.
      'rev BIGINT NOT NULL',
      'last_at BIGINT NOT NULL',
      'feed TEXT(190) NOT NULL',
    ],
    key: ['ref'],
    indexes: {
      by_time: ['created_at', 'ref'],
      by_code: ['code', 'created_at', 'ref'],
      // Those that last are without an end: among them, by the instant at which they must have one.
      by_end: ['ended_at', 'expires_at'],
    },
  },
  {
    name: 'signalbox_sessions',
    columns: [
      'ref TEXT(64) NOT NULL',
      'seq INTEGER NOT NULL',
      'user_id TEXT(64) NOT NULL',
      'name TEXT(255)',
      'joined_at BIGINT NOT NULL',
      'left_at BIGINT',
      'reason TEXT(32)',
      'media_type TEXT(64)',
      // When the call was created, here again: by that a user's calls are walked, however many they are.
      'called_at BIGINT NOT NULL',
    ],
    key: ['ref', 'seq'],
    indexes: { by_user: ['user_id', 'ref'], by_call: ['user_id', 'called_at', 'ref'] },
  },
  {
    // Apart from the calls: whoever counts signals does not wait for whoever writes events, nor for the call to be there.
    name: 'signalbox_signals',
    columns: ['ref TEXT(64) NOT NULL', 'signals BIGINT NOT NULL', 'counted_at BIGINT NOT NULL'],
    key: ['ref'],
    indexes: { by_time: ['counted_at'] },
  },
  {
    // How far each feed has been read, and what of it nobody could read. A process that counts signals has one as well.
    name: 'signalbox_feeds',
    columns: [
      'feed TEXT(190) NOT NULL',
      // Of a feed in many streams it is a place in each.
      'place TEXT(8000) NOT NULL',
      'lost BIGINT NOT NULL',
      'lost_signals BIGINT NOT NULL',
      'moved_at BIGINT NOT NULL',
      'swept_at BIGINT NOT NULL',
    ],
    key: ['feed'],
  },
];

const STEPS: readonly (readonly Table[])[] = [LEDGER, CALLS];

const NOTES: Table = { name: 'signalbox_migrations', columns: ['version INTEGER NOT NULL'], key: ['version'] };

export const migrationsTable = (dialect: Dialect): string[] => createTable(NOTES, dialect);

export interface Migration {
  readonly version: number;
  readonly statements: readonly string[];
}

/** @param version of the newest step that the database has seen; 0 for none */
export const migrationsAfter = (version: number, dialect: Dialect): Migration[] =>
  STEPS.map((tables, index) => ({
    version: index + 1,
    statements: tables.flatMap((table) => createTable(table, dialect)),
  })).filter((step) => step.version > version);
