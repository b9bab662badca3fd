/** The driver of SQLite, loaded when somebody first needs it. */
import type Sqlite from 'libsql';
import { DatabaseMisconfigured } from './database.ts';

/** @throws DatabaseMisconfigured where it cannot run. */
export async function loadSqlite(): Promise<typeof Sqlite> {
  const loaded = await import('libsql').catch((cause: unknown) => {
    throw new DatabaseMisconfigured('libsql has no build for this platform: give a databaseUrl of a server', { cause });
  });
  return loaded.default;
}
