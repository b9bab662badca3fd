/** A database whose driver is loaded when somebody first needs it: who uses none pays for none. */
import { withDeadline } from '../support/deadline.ts';
import { type Database, DatabaseUnavailable } from './database.ts';
import { closedError } from './driver-errors.ts';

/** For whatever a driver does not bound by itself, and for several statements that it bounds one by one. */
const ANSWER_MS = 2_500;
const CLOSE_MS = 1_000;

const tooLate = (): Error => new DatabaseUnavailable(`the database has not answered within ${ANSWER_MS} ms`);

export function lazyDatabase(about: Pick<Database, 'name' | 'dialect'>, load: () => Promise<Database>): Database {
  let loaded: Promise<Database> | undefined;
  let isClosed = false;
  const ask = async <T>(question: (database: Database) => Promise<T>): Promise<T> => {
    if (isClosed) throw closedError();
    loaded ??= load();
    return withDeadline(loaded.then(question), ANSWER_MS, tooLate);
  };
  return {
    ...about,
    open: () => ask((database) => database.open()),
    now: () => ask((database) => database.now()),
    rows: (sql, values) => ask((database) => database.rows(sql, values)),
    run: (sql, values) => ask((database) => database.run(sql, values)),
    transaction: (work) => ask((database) => database.transaction(work)),
    async close() {
      isClosed = true;
      if (loaded === undefined) return;
      const closing = loaded.then((database) => database.close());
      await withDeadline(closing, CLOSE_MS, tooLate).catch(() => {});
    },
  };
}
