/** One database for several users: one pool of connections, closed when the last of them has closed it. */
import type { Database } from './database.ts';

/** @returns a function that gives the database to one more user, who closes it as if it were its own. */
export function shareDatabase(database: Database): () => Database {
  let users = 0;
  return () => {
    users += 1;
    let closed = false;
    return {
      ...database,
      async close() {
        if (closed) return;
        closed = true;
        users -= 1;
        if (users === 0) await database.close();
      },
    };
  };
}
