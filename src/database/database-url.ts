/** Which database a server has. */
import { join } from 'node:path';

/** The options of a server that decide. */
export interface DatabaseOptions {
  readonly redisUrl?: string | undefined;
  readonly databaseUrl?: string | undefined;
  readonly dataDir?: string | undefined;
}

const FILE = 'signalbox.db';

/**
 * The URL of the database that every node of the server shares: a server, or with one node a file in its data directory.
 * Nodes that share a Redis may stand on different machines, so a directory of each is none.
 */
export function sharedDatabaseUrl(circumstances: DatabaseOptions): string | undefined {
  if (circumstances.databaseUrl !== undefined) return circumstances.databaseUrl;
  return keepsDataDir(circumstances) ? `sqlite:${join(circumstances.dataDir, FILE)}` : undefined;
}

/** Whether it is a file that no other node may use. */
export const keepsDataDir = (
  circumstances: DatabaseOptions,
): circumstances is DatabaseOptions & { readonly dataDir: string } =>
  circumstances.redisUrl === undefined &&
  circumstances.databaseUrl === undefined &&
  circumstances.dataDir !== undefined;
