/** How a server comes by its call records: where all nodes share a database, and the engine keeps a feed to read. */
import type { Database } from '../database/database.ts';
import type { CallRecords } from './calls.ts';
import { type CallRecordsParts, createCallRecords } from './create.ts';

/** The options of a server that decide. */
export interface RecordsCircumstances {
  readonly redisUrl?: string | undefined;
  readonly redisPrefix: string;
  readonly databaseUrl?: string | undefined;
  readonly feedKept: number;
  readonly roomMaxAgeMs: number;
  readonly callsKeptMs: number;
}

/**
 * @param database has one more user, who closes it; undefined where nodes share none.
 * @returns undefined where there is nothing to record, or nowhere.
 */
export function callRecordsIn(
  database: Database | undefined,
  options: RecordsCircumstances,
  node: Pick<CallRecordsParts, 'feed' | 'clock' | 'random' | 'log'> & { readonly nodeId: string },
): CallRecords | undefined {
  if (database === undefined || options.feedKept === 0) return undefined;
  return createCallRecords({
    ...node,
    database,
    feedName: feedNameOf(options, node.nodeId),
    ofProcess: options.redisUrl === undefined,
    keptMs: options.callsKeptMs,
    maxAgeMs: options.roomMaxAgeMs,
  });
}

/** A feed in memory is of one process: where another may write to the same database, each has its own name. */
function feedNameOf({ redisUrl, redisPrefix, databaseUrl }: RecordsCircumstances, nodeId: string): string {
  if (redisUrl !== undefined) return `redis ${redisPrefix}`;
  return databaseUrl === undefined ? 'memory' : `memory ${nodeId}`;
}
