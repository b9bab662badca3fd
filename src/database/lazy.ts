/** A database whose driver is loaded when somebody first needs it: who uses none pays for none. */
import { withDeadline } from '../support/deadline.ts';
import type { Database } from './database.ts';

/** For whatever a driver does not bound by itself. */
const ANSWER_MS = 2_500;
const CLOSE_MS = 1_000;

const tooLate = (): Error => new Error(`the database has not answered within ${ANSWER_MS} ms`);

export function lazyDatabase(about: Pick<Database, 'name' | 'dialect'>, load: () => Promise<Database>): Database {
  let loaded: Promise<Database> | undefined;
  const ask = <T>(question: (database: Database) => Promise<T>): Promise<T> => {
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
      if (loaded === undefined) return;
      const closing = loaded.then((database) => database.close());
      await withDeadline(closing, CLOSE_MS, tooLate).catch(() => {});
    },
  };
}
