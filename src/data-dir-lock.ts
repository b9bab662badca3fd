/**
 * One node for each data directory: a second one would take the calls of the first for those of a node that has died, and
 * end them. The lock is the system's own, on a file beside the database: it ends with the process that has it, however
 * that ends, and unlike the number of a process it means the same in every container. Programs that only count references
 * there need none.
 */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Database as File } from 'libsql';
import { type DatabaseOptions, keepsDataDir } from './database/database-url.ts';
import { loadSqlite } from './database/libsql.ts';

const FILE = 'signalbox.lock';

/**
 * Holds the directory of a node that keeps its database in one.
 *
 * @returns how it is given back; undefined where there is no such directory.
 * @throws Error when another node holds it, or it cannot be written to.
 */
export async function lockDataDir(circumstances: DatabaseOptions): Promise<(() => void) | undefined> {
  if (!keepsDataDir(circumstances)) return undefined;
  const { dataDir } = circumstances;
  const Sqlite = await loadSqlite();
  let file: File | undefined;
  try {
    await mkdir(dataDir, { recursive: true });
    const held = new Sqlite(join(dataDir, FILE));
    file = held;
    held.exec('PRAGMA busy_timeout = 0');
    // Nothing is ever written to it: what counts is who may.
    held.exec('BEGIN EXCLUSIVE');
    return () => held.close();
  } catch (cause) {
    file?.close();
    throw new Error(complaintOf(cause, dataDir), { cause });
  }
}

function complaintOf(cause: unknown, dataDir: string): string {
  const said = cause instanceof Error ? cause.message : String(cause);
  return /locked|busy/i.test(said)
    ? `${dataDir} is in use by another node: give this one a dataDir of its own, or stop the other`
    : `dataDir: nothing can be kept in ${dataDir} (${said})`;
}
