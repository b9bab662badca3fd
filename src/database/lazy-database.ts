/** A database whose driver is loaded at the first call: servers without a database do not pay for one. */
import { withDeadline } from '../support/deadline.ts';
import { type Database, DatabaseUnavailable } from './database.ts';
import { closedError } from './driver-errors.ts';
import { CALL_MS } from './time-limits.ts';

const CLOSE_MS = 1_000;

const tooLate = (): Error => new DatabaseUnavailable(`the database has not answered within ${CALL_MS} ms`);

export function lazyDatabase(about: Pick<Database, 'name' | 'dialect'>, load: () => Promise<Database>): Database {
  let loaded: Promise<Database> | undefined;
  let isClosed = false;
  const call = async <T>(work: (database: Database) => Promise<T>): Promise<T> => {
    if (isClosed) throw closedError();
    loaded ??= load();
    return withDeadline(loaded.then(work), CALL_MS, tooLate);
  };
  return {
    ...about,
    open: () => call((database) => database.open()),
    now: () => call((database) => database.now()),
    rows: (sql, values) => call((database) => database.rows(sql, values)),
    run: (sql, values) => call((database) => database.run(sql, values)),
    transaction: (work) => call((database) => database.transaction(work)),
    async close() {
      isClosed = true;
      if (loaded === undefined) return;
      const closing = loaded.then((database) => database.close());
      await withDeadline(closing, CLOSE_MS, tooLate).catch(() => {});
    },
  };
}
