/** Every kind of database, for laws that all of them keep. */
import { afterAll, beforeAll, describe, expect } from 'vitest';
import type { Database } from '../../src/database/database.ts';
import { openDatabase } from '../../src/database/open.ts';
import { type LedgerStage, STAGES } from '../reference/ledger-stage.ts';

export interface Place {
  /** The server or the folder; there is one while tests run. */
  readonly stage: LedgerStage;
  /** Closed after all tests. */
  databaseAt(url: string): Database;
  /** One that nobody has used. */
  fresh(): Promise<Database>;
}

/** Has the same tests run on each. */
export function onEveryDatabase(play: (place: Place) => void): void {
  describe.each(STAGES)('$name', ({ start }) => {
    let stage: LedgerStage | undefined;
    const open: Database[] = [];
    const place: Place = {
      get stage() {
        return stage ?? expect.unreachable();
      },
      databaseAt(url) {
        const database = openDatabase(url);
        open.push(database);
        return database;
      },
      fresh: async () => place.databaseAt(await place.stage.empty()),
    };
    beforeAll(async () => {
      stage = await start();
    });
    afterAll(async () => {
      await Promise.all(open.map((database) => database.close()));
      await stage?.[Symbol.asyncDispose]();
    });
    play(place);
  });
}
