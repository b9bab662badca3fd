/** The default data directory of the command line. */
import { accessSync, constants } from 'node:fs';
import type { PartialOptions } from '../server/options/options.ts';
import type { Log } from '../support/log.ts';
import { makePrivateDirectory } from '../support/private-files.ts';

const DEFAULT = 'data';

/** Adds `dataDir: ./data` for a single node without Redis, without a database and without a `dataDir`. */
export function withDataDir(options: PartialOptions, log: Log): PartialOptions {
  const { redisUrl, databaseUrl, dataDir } = options;
  if (redisUrl !== undefined || databaseUrl !== undefined || dataDir !== undefined) return options;
  try {
    makePrivateDirectory(DEFAULT);
    accessSync(DEFAULT, constants.W_OK);
    return { ...options, dataDir: DEFAULT };
  } catch (error) {
    log.warn(
      { err: error },
      `the data directory ./${DEFAULT} is not writable, so no data will survive a restart: set dataDir to a writable directory`,
    );
    return options;
  }
}
