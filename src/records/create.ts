/** Call records in a SQL database: what reads the feed, what counts signals, what clears away, and what answers. */
import type { Database, Queries } from '../database/database.ts';
import type { Feed } from '../engine/feed.ts';
import { startPeriodic } from '../support/async/periodic.ts';
import type { Clock } from '../support/clock.ts';
import { withDeadline } from '../support/deadline.ts';
import type { Log } from '../support/log.ts';
import type { Random } from '../support/random.ts';
import { createAsking } from './asking.ts';
import type { CallRecords } from './calls.ts';
import { exportCalls, findCall, listCalls, readLost } from './reading.ts';
import { createRecorder } from './recorder.ts';
import { createSignalCounts } from './signals.ts';
import { endOrphans, SWEEP_MS, sweep } from './sweep.ts';

export interface CallRecordsParts {
  /** Closed with the records. */
  readonly database: Database;
  readonly feed: Feed;
  /** The name of the feed in the database: the same on all nodes that read it, and nobody else's. */
  readonly feedName: string;
  /** Whether what the feed tells of ends with this process: then no call of an earlier one goes on. */
  readonly ofProcess: boolean;
  /** For how long calls are kept after their end; 0 for ever. */
  readonly keptMs: number;
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
const FAREWELL_MS = 2_000;

export function createCallRecords(parts: CallRecordsParts): CallRecords {
  const { database, ofProcess, clock, random, log } = parts;
  const signals = createSignalCounts(parts);
  const recorder = createRecorder(parts);
  const asked = createAsking(log);
  const reading: Pick<Queries, 'rows'> = { rows: (sql, values) => asked(() => database.rows(sql, values)) };
  let begun = false;
  let isOver = false;

  const recordSome = async (): Promise<boolean> => {
    // Before anything of this life is written: nothing of it is taken for an orphan.
    if (ofProcess && !begun) await endOrphans(parts);
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

  const sayFarewell = async (): Promise<void> => {
    await Promise.all(loops.map((loop) => loop.stop()));
    while (!isOver && (await recordSome()));
    while (!isOver && (await signals.write()));
    // The rooms end with the process that holds them.
    if (ofProcess && !isOver) await endOrphans(parts);
  };

  return {
    about: database.name,
    lost: () => readLost(reading),
    find: (ref) => findCall(reading, ref),
    list: (query) => listCalls(reading, query),
    export: (filter) => exportCalls(reading, filter),
    countSignals: (ref, count) => signals.count(ref, count),
    async close() {
      try {
        await withDeadline(sayFarewell(), FAREWELL_MS, () => new Error('the database does not answer'));
      } catch (error) {
        log.warn({ err: error }, 'the last events were not recorded');
      }
      // What is under way still, after its time, ends with the next thing that it asks for.
      isOver = true;
      await database.close();
    },
  };
}
