/** Opens the database at a URL. */
import { type Log, silentLog } from '../support/log.ts';
import { type Database, DatabaseMisconfigured } from './database.ts';
import { lazyDatabase } from './lazy-database.ts';
import { databaseUrlProblem, locationOf } from './url.ts';

/**
 * `sqlite:path` (relative to the working directory, or absolute), `postgres://`, `mysql://` or `mariadb://`. Nothing is
 * connected to yet.
 *
 * @throws DatabaseMisconfigured
 */
export function openDatabase(url: string, log: Log = silentLog): Database {
  const problem = databaseUrlProblem(url);
  if (problem !== undefined) throw new DatabaseMisconfigured(problem);
  switch (url.slice(0, url.indexOf(':') + 1)) {
    case 'sqlite:': {
      const path = url.slice('sqlite:'.length).replace(/^\/\/(?=\/)/, '');
      return lazyDatabase({ name: `sqlite at ${path}`, dialect: 'sqlite' }, async () =>
        (await import('./sqlite.ts')).createSqliteDatabase(path, log),
      );
    }
    case 'postgres:':
    case 'postgresql:':
      return lazyDatabase({ name: `postgres at ${locationOf(url)}`, dialect: 'postgres' }, async () =>
        (await import('./postgres.ts')).createPostgresDatabase(url, log),
      );
    default:
      return lazyDatabase({ name: `mysql at ${locationOf(url)}`, dialect: 'mysql' }, async () =>
        (await import('./mysql.ts')).createMysqlDatabase(url, log),
      );
  }
}
