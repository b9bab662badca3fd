/** Call records in a SQL database: what reads the feed, what counts signals, what clears away, and what answers. */
import type { Database, Queries } from '../database/database.ts';
import type { Feed } from '../engine/feed.ts';
import { startPeriodic } from '../support/async/periodic.ts';
import type { Clock } from '../support/clock.ts';
import { withDeadline } from '../support/deadline.ts';
import type { Log } from '../support/log.ts';
import type { Random } from '../support/random.ts';
import { createGuard } from './guarded-queries.ts';
import type { CallRecords } from './port.ts';
import { exportCalls, findCall, listCalls, readLost } from './read.ts';
import { createRecorder } from './recorder.ts';
import { createSignalCounts } from './signal-counts.ts';
import { endOrphans, SWEEP_MS, sweep } from './sweep.ts';

export interface CallRecordsDeps {
  /** Closed with the records. */
  readonly database: Database;
  readonly feed: Feed;
  /** The name of the feed in the database: the same on all nodes that read it, and nobody else's. */
  readonly feedName: string;
  /** Whether what the feed tells of ends with this process: then no call of an earlier one goes on. */
  readonly endsWithProcess: boolean;
  /** For how long calls are kept after their end; 0 for ever. */
  readonly retentionMs: number;
  /** How long a room lasts at most. */
  readonly maxAgeMs: number;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
}

const RECORD_MS = 1_000;
/** Seldom enough that SQLite does not stand still for them often. */
const SIGNALS_MS = 10_000;
/** For what is not written yet when the server closes. */
const LAST_WRITES_MS = 2_000;

export function createCallRecords(parts: CallRecordsDeps): CallRecords {
  const { database, endsWithProcess, clock, random, log } = parts;
  const signals = createSignalCounts(parts);
  const recorder = createRecorder(parts);
  const asked = createGuard(log);
  const reading: Pick<Queries, 'rows'> = { rows: (sql, values) => asked(() => database.rows(sql, values)) };
  let begun = false;
  let isOver = false;

  const recordSome = async (): Promise<boolean> => {
    // Before anything of this life is written: nothing of it is taken for an orphan.
    if (endsWithProcess && !begun) await endOrphans(parts);
    begun = true;
    return recorder.record();
  };
  const loops = [
    {
      failure: 'calls are not recorded',
      recovery: 'calls are recorded again',
      everyMs: RECORD_MS,
      work: recordSome,
    },
    {
      failure: 'signals are not recorded',
      recovery: 'signals are recorded again',
      everyMs: SIGNALS_MS,
      work: () => signals.write(),
    },
    {
      failure: 'call records are not cleared away',
      recovery: 'call records are cleared away again',
      everyMs: SWEEP_MS,
      work: () => sweep(parts),
    },
  ].map((loop) => startPeriodic({ ...loop, clock, random, log }));

  const writeRest = async (): Promise<void> => {
    await Promise.all(loops.map((loop) => loop.stop()));
    while (!isOver && (await recordSome()));
    while (!isOver && (await signals.write()));
    // The rooms end with the process that holds them.
    if (endsWithProcess && !isOver) await endOrphans(parts);
  };

  return {
    description: database.name,
    lost: () => readLost(reading),
    find: (ref) => findCall(reading, ref),
    list: (query) => listCalls(reading, query),
    export: (filter) => exportCalls(reading, filter),
    countSignals: (ref, count) => signals.count(ref, count),
    async close() {
      try {
        await withDeadline(writeRest(), LAST_WRITES_MS, () => new Error('the database does not answer'));
      } catch (error) {
        log.warn({ err: error }, 'the last events were not recorded');
      }
      // What is under way still, after its time, ends with the next thing that it asks for.
      isOver = true;
      await database.close();
    },
  };
}

/** The options of a server that decide. */
export interface RecordsOptions {
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
export function callRecordsFromOptions(
  share: () => Database | undefined,
  options: RecordsOptions,
  node: Pick<CallRecordsDeps, 'feed' | 'clock' | 'random' | 'log'> & { readonly nodeId: string },
): CallRecords | undefined {
  const database = options.feedMaxEvents === 0 ? undefined : share();
  if (database === undefined) return undefined;
  if (isUnnamed(options)) {
    node.log.warn(
      'the calls of a process that dies are not ended before they would be too old: give each a nodeId that it keeps',
    );
  }
  return createCallRecords({
    ...node,
    database,
    feedName: feedNameOf(options, node.nodeId),
    endsWithProcess: options.redisUrl === undefined,
    retentionMs: options.callRetentionMs,
    maxAgeMs: options.roomMaxAgeMs,
  });
}

/** Whether the next process cannot tell which calls were those of this one. */
const isUnnamed = ({ redisUrl, databaseUrl, nodeId }: RecordsOptions): boolean =>
  redisUrl === undefined && databaseUrl !== undefined && nodeId === undefined;

/** A feed in memory is of one process: where another may write to the same database, each has its own name. */
function feedNameOf({ redisUrl, redisPrefix, databaseUrl }: RecordsOptions, nodeId: string): string {
  if (redisUrl !== undefined) return `redis ${redisPrefix}`;
  return databaseUrl === undefined ? 'memory' : `memory ${nodeId}`;
}
