/** Runs a contract on every kind of database. */
import { afterAll, beforeAll, describe, expect } from 'vitest';
import type { Database } from '../../src/database/database.ts';
import { openDatabase } from '../../src/database/open.ts';
import { DATABASE_HOSTS, type DatabaseHost } from './database-hosts.ts';

export interface DatabaseHarness {
  /** Available while tests run. */
  readonly host: DatabaseHost;
  /** Closed after all tests. */
  databaseAt(url: string): Database;
  /** A new, empty database. */
  fresh(): Promise<Database>;
}

/** Defines the same tests for each kind. */
export function onEveryDatabase(define: (harness: DatabaseHarness) => void): void {
  describe.each(DATABASE_HOSTS)('$name', ({ start }) => {
    let stage: DatabaseHost | undefined;
    const open: Database[] = [];
    const harness: DatabaseHarness = {
      get host() {
        return stage ?? expect.unreachable();
      },
      databaseAt(url) {
        const database = openDatabase(url);
        open.push(database);
        return database;
      },
      fresh: async () => harness.databaseAt(await harness.host.empty()),
    };
    beforeAll(async () => {
      stage = await start();
    });
    afterAll(async () => {
      await Promise.all(open.map((database) => database.close()));
      await stage?.[Symbol.asyncDispose]();
    });
    define(harness);
  });
}
