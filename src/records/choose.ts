/** How a server comes by its call records: where all nodes share a database, and the engine keeps a feed to read. */
import type { Database } from '../database/database.ts';
import type { CallRecords } from './calls.ts';
import { type CallRecordsParts, createCallRecords } from './create.ts';

/** The options of a server that decide. */
export interface RecordsCircumstances {
  readonly redisUrl?: string | undefined;
  readonly redisPrefix: string;
  readonly databaseUrl?: string | undefined;
  readonly nodeId?: string | undefined;
  readonly feedMaxEvents: number;
  readonly roomMaxAgeMs: number;
  readonly callRetentionMs: number;
}

/**
 * @param share gives the database to one more user, who closes it; nothing where nodes share none. Not called where there
 *   is nothing to record.
 * @returns undefined where there is nothing to record, or nowhere.
 */
export function callRecordsIn(
  share: () => Database | undefined,
  options: RecordsCircumstances,
  node: Pick<CallRecordsParts, 'feed' | 'clock' | 'random' | 'log'> & { readonly nodeId: string },
): CallRecords | undefined {
  const database = options.feedMaxEvents === 0 ? undefined : share();
  if (database === undefined) return undefined;
  if (isNameless(options)) {
    node.log.warn(
      'the calls of a process that dies are not ended before they would be too old: give each a nodeId that it keeps',
    );
  }
  return createCallRecords({
    ...node,
    database,
    feedName: feedNameOf(options, node.nodeId),
    ofProcess: options.redisUrl === undefined,
    keptMs: options.callRetentionMs,
    maxAgeMs: options.roomMaxAgeMs,
  });
}

/** Whether the next process cannot tell which calls were those of this one. */
const isNameless = ({ redisUrl, databaseUrl, nodeId }: RecordsCircumstances): boolean =>
  redisUrl === undefined && databaseUrl !== undefined && nodeId === undefined;

/** A feed in memory is of one process: where another may write to the same database, each has its own name. */
function feedNameOf({ redisUrl, redisPrefix, databaseUrl }: RecordsCircumstances, nodeId: string): string {
  if (redisUrl !== undefined) return `redis ${redisPrefix}`;
  return databaseUrl === undefined ? 'memory' : `memory ${nodeId}`;
}
