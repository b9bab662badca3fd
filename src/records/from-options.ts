/** Makes the call records of a server: when its nodes share a database, and its engine keeps a feed to record. */
import type { Database } from '../database/database.ts';
import { type CallRecordsDeps, createCallRecords } from './call-records.ts';
import type { CallRecords } from './port.ts';

/** The server options that decide about call records. */
export interface RecordsOptions {
  readonly redisUrl?: string | undefined;
  readonly databaseUrl?: string | undefined;
  readonly nodeId?: string | undefined;
  readonly feedMaxEvents: number;
  readonly roomMaxAgeMs: number;
  readonly callRetentionMs: number;
}

/**
 * @param share makes a handle of the shared database, if there is one. Not called without a feed.
 * @returns undefined without a feed, or without a shared database.
 */
export function callRecordsFromOptions(
  share: () => Database | undefined,
  options: RecordsOptions,
  node: Pick<CallRecordsDeps, 'feed' | 'clock' | 'random' | 'log'> & { readonly nodeId: string },
): CallRecords | undefined {
  const database = options.feedMaxEvents === 0 ? undefined : share();
  if (database === undefined) return undefined;
  if (isUnnamed(options)) {
    node.log.warn('no nodeId is given: when this process dies, its calls stay open in the records until roomMaxAgeMs');
  }
  return createCallRecords({
    ...node,
    database,
    feedName: feedNameOf(options, node),
    endsWithProcess: options.redisUrl === undefined,
    retentionMs: options.callRetentionMs,
    maxAgeMs: options.roomMaxAgeMs,
  });
}

/** Whether the next process cannot recognize the calls of this one, because its random name is a new one. */
const isUnnamed = ({ redisUrl, databaseUrl, nodeId }: RecordsOptions): boolean =>
  redisUrl === undefined && databaseUrl !== undefined && nodeId === undefined;

/** A feed in memory belongs to one process; several processes with one database need a name each. */
function feedNameOf(
  { redisUrl, databaseUrl }: RecordsOptions,
  { feed, nodeId }: Pick<CallRecordsDeps, 'feed'> & { readonly nodeId: string },
): string {
  return redisUrl !== undefined || databaseUrl === undefined ? feed.name : `${feed.name} ${nodeId}`;
}
