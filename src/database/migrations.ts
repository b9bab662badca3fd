/**
 * The tables, as steps that are applied in their order, each once. Every step can be applied twice without harm: MySQL
 * commits each statement by itself, so a node may die between a step and the note of it.
 */

/** In words that SQLite, PostgreSQL and MySQL understand alike. */
const STEPS: readonly (readonly string[])[] = [
  [
    // What has been leased so far; `previous` is where it stood before the last lease.
    `CREATE TABLE IF NOT EXISTS signalbox_seeds (
      prefix VARCHAR(16) NOT NULL, year INTEGER NOT NULL, seed BIGINT NOT NULL, previous BIGINT NOT NULL,
      PRIMARY KEY (prefix, year))`,
    // The highest reference that a record carries.
    `CREATE TABLE IF NOT EXISTS signalbox_records (
      prefix VARCHAR(16) NOT NULL, year INTEGER NOT NULL, highest BIGINT NOT NULL,
      PRIMARY KEY (prefix, year))`,
  ],
];

export const MIGRATIONS_TABLE =
  'CREATE TABLE IF NOT EXISTS signalbox_migrations (version INTEGER NOT NULL PRIMARY KEY)';

export interface Migration {
  readonly version: number;
  readonly statements: readonly string[];
}

/** @param version of the newest step that the database has seen; 0 for none */
export const migrationsAfter = (version: number): Migration[] =>
  STEPS.map((statements, index) => ({ version: index + 1, statements })).filter((step) => step.version > version);
