/** One database for several users: one pool of connections, closed when the last of them has closed it. */

import type { Database } from './database.ts';
import { closedError } from './driver-errors.ts';

/** @returns a function that gives the database to one more user, who closes it as if it were its own. */
export function shareDatabase(database: Database): () => Database {
  let users = 0;
  return () => {
    users += 1;
    let isClosed = false;
    const unlessClosed = async <T>(ask: () => Promise<T>): Promise<T> => {
      if (isClosed) throw closedError();
      return ask();
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
