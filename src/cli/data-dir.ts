/** Where the command line keeps what outlasts a restart, when nobody has said where. */
import { accessSync, constants, mkdirSync } from 'node:fs';
import type { PartialOptions } from '../server/options/options.ts';
import type { Log } from '../support/log.ts';

const DEFAULT = 'data';

/** One node without Redis has a directory of its own, beside where it was started, unless it has a database. */
export function withDataDir(options: PartialOptions, log: Log): PartialOptions {
  const { redisUrl, databaseUrl, dataDir } = options;
  if (redisUrl !== undefined || databaseUrl !== undefined || dataDir !== undefined) return options;
  try {
    mkdirSync(DEFAULT, { recursive: true });
    accessSync(DEFAULT, constants.W_OK);
    return { ...options, dataDir: DEFAULT };
  } catch (error) {
    log.warn({ err: error }, `nothing can be kept in ${DEFAULT}: give a dataDir that can be written to`);
    return options;
  }
}
