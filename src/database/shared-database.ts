/** Reference counting: several users share one database, and the last one to close it closes the connections. */

import type { Database } from './database.ts';
import { closedError } from './driver-errors.ts';

/** @returns a function that makes a handle for one more user; each handle is closed once. */
export function shareDatabase(database: Database): () => Database {
  let users = 0;
  return () => {
    users += 1;
    let isClosed = false;
    const unlessClosed = async <T>(work: () => Promise<T>): Promise<T> => {
      if (isClosed) throw closedError();
      return work();
    };
    return {
      name: database.name,
      dialect: database.dialect,
      open: () => unlessClosed(() => database.open()),
      now: () => unlessClosed(() => database.now()),
      rows: (sql, values) => unlessClosed(() => database.rows(sql, values)),
      run: (sql, values) => unlessClosed(() => database.run(sql, values)),
      transaction: (work) => unlessClosed(() => database.transaction(work)),
      async close() {
        if (isClosed) return;
        isClosed = true;
        users -= 1;
        if (users === 0) await database.close();
      },
    };
  };
}
