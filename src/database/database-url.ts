/** The database URL that follows from the options of a server. */
import { join } from 'node:path';

/** The server options that decide. */
export interface DatabaseOptions {
  readonly redisUrl?: string | undefined;
  readonly databaseUrl?: string | undefined;
  readonly dataDir?: string | undefined;
}

const FILE = 'signalbox.db';

/**
 * The database that all nodes share: a database server, or, for a single node, a file in its data directory. Nodes that
 * share a Redis may run on different machines, so their data directories are not shared.
 */
export function sharedDatabaseUrl(options: DatabaseOptions): string | undefined {
  if (options.databaseUrl !== undefined) return options.databaseUrl;
  return keepsDataDir(options) ? `sqlite:${join(options.dataDir, FILE)}` : undefined;
}

/** Whether the database is a file in the data directory, which no other node may use. */
export const keepsDataDir = (options: DatabaseOptions): options is DatabaseOptions & { readonly dataDir: string } =>
  options.redisUrl === undefined && options.databaseUrl === undefined && options.dataDir !== undefined;
