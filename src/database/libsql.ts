/** Loads the SQLite driver on demand. */
import type Sqlite from 'libsql';
import { DatabaseMisconfigured } from './database.ts';

/** @throws DatabaseMisconfigured when it has no build for this platform. */
export async function loadSqlite(): Promise<typeof Sqlite> {
  const loaded = await import('libsql').catch((cause: unknown) => {
    throw new DatabaseMisconfigured('libsql has no build for this platform: give a databaseUrl of a server', { cause });
  });
  return loaded.default;
}
