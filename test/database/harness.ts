/** Every kind of database, for laws that all of them keep. */
import { afterAll, beforeAll, describe, expect } from 'vitest';
import type { Database } from '../../src/database/database.ts';
import { openDatabase } from '../../src/database/open.ts';
import { DATABASE_HOSTS, type DatabaseHost } from './database-hosts.ts';

export interface DatabaseHarness {
  /** The server or the folder; there is one while tests run. */
  readonly host: DatabaseHost;
  /** Closed after all tests. */
  databaseAt(url: string): Database;
  /** One that nobody has used. */
  fresh(): Promise<Database>;
}

/** Has the same tests run on each. */
export function onEveryDatabase(play: (harness: DatabaseHarness) => void): void {
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
    play(harness);
  });
}
