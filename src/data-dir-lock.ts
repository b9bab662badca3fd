/**
 * Lock of the data directory, for one node at a time: a second node would end the calls of the first one in the records, as
 * if that had died. It is a lock of the operating system on a file beside the database. Unlike a file with a process id, it
 * ends with its process in any case, and works across containers. Programs that only count references do not need it.
 */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Database as File } from 'libsql';
import { type DatabaseOptions, keepsDataDir } from './database/database-url.ts';
import { loadSqlite } from './database/libsql.ts';
import { type Log, silentLog } from './support/log.ts';
import { keepDirectoryPrivate, keepFilesPrivate, makePrivateFile } from './support/private-files.ts';

const OURS = 'signalbox.';
const FILE = `${OURS}lock`;

/**
 * Locks the data directory of a node that has its database there.
 *
 * @returns the release; undefined when the node needs no data directory.
 * @throws Error when another node has the lock, or the directory is not writable.
 */
export async function lockDataDir(options: DatabaseOptions, log: Log = silentLog): Promise<(() => void) | undefined> {
  if (!keepsDataDir(options)) return undefined;
  const { dataDir } = options;
  const Sqlite = await loadSqlite();
  let file: File | undefined;
  try {
    const isOurs = (name: string) => name.startsWith(OURS);
    keepDirectoryPrivate(dataDir, isOurs, log);
    // The database too, whose companions SQLite makes with its mode. An older version made them with others.
    const ours = readdirSync(dataDir).filter(isOurs);
    keepFilesPrivate(
      ours.map((name) => join(dataDir, name)),
      log,
    );
    const path = join(dataDir, FILE);
    makePrivateFile(path, log);
    const opened = new Sqlite(path);
    file = opened;
    opened.exec('PRAGMA busy_timeout = 0');
    // Nothing is written: holding the transaction is the lock.
    opened.exec('BEGIN EXCLUSIVE');
    return () => opened.close();
  } catch (cause) {
    file?.close();
    throw new Error(messageOf(cause, dataDir), { cause });
  }
}

function messageOf(cause: unknown, dataDir: string): string {
  const reason = cause instanceof Error ? cause.message : String(cause);
  return /locked|busy/i.test(reason)
    ? `${dataDir} is in use by another node: give this one a dataDir of its own, or stop the other`
    : `dataDir: nothing can be kept in ${dataDir} (${reason})`;
}
