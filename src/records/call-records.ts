/** Call records in a SQL database: joins the recorder, the signal counts, the clean-up and the queries. */
import type { Database, Queries } from '../database/database.ts';
import type { Feed } from '../engine/feed.ts';
import { type Periodic, startPeriodic } from '../support/async/periodic.ts';
import type { Clock } from '../support/clock.ts';
import { withDeadline } from '../support/deadline.ts';
import type { Log } from '../support/log.ts';
import type { Random } from '../support/random.ts';
import { createSteadyClock } from '../support/steady-clock.ts';
import type { StoreHealth } from '../support/store.ts';
import { StoreWatch } from '../support/store-watch.ts';
import { createGuard } from './guarded-queries.ts';
import type { Call, CallChunk, CallPage, CallQuery, CallRecords, LostCounts } from './port.ts';
import { exportCalls, findCall, listCalls, readLost } from './read.ts';
import { createRecorder, type Recorder } from './recorder.ts';
import { createSignalCounts, type SignalCounts } from './signal-counts.ts';
import { endOrphans, SWEEP_MS, sweep } from './sweep.ts';

export interface CallRecordsDeps {
  /** Closed with the records. */
  readonly database: Database;
  readonly feed: Feed;
  /** Name of the feed in the database: the same on all nodes that read it, and used by no other feed. */
  readonly feedName: string;
  /** Whether the rooms are in the memory of this process: then it ends the calls that an earlier process left open. */
  readonly endsWithProcess: boolean;
  /** How long calls are kept after their end; 0 for ever. */
  readonly retentionMs: number;
  /** Longest lifetime of a room. */
  readonly maxAgeMs: number;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
}

export const createCallRecords = (deps: CallRecordsDeps): CallRecords => new SqlCallRecords(deps);

const RECORD_MS = 1_000;
/** Long, because with SQLite each write blocks the process. */
const SIGNALS_MS = 10_000;
/** Time limit of the last writes when the server closes. */
const LAST_WRITES_MS = 2_000;

class SqlCallRecords implements CallRecords {
  readonly description: string;
  readonly #deps: CallRecordsDeps;
  readonly #signals: SignalCounts;
  readonly #recorder: Recorder;
  readonly #queries: Pick<Queries, 'rows'>;
  readonly #watch: StoreWatch;
  readonly #steady: Clock;
  readonly #jobs: readonly Periodic[];
  #orphansEnded = false;
  #isClosed = false;

  constructor(deps: CallRecordsDeps) {
    const { database, clock, log } = deps;
    const guard = createGuard(log);
    // Each of the works has its own lines in the log: they say what is missing.
    this.#watch = new StoreWatch({ clock });
    this.description = database.name;
    this.#deps = deps;
    this.#steady = createSteadyClock(deps.clock);
    this.#signals = createSignalCounts(deps);
    this.#recorder = createRecorder(deps);
    const read: Queries['rows'] = (sql, values) => {
      const rows = () => guard(() => database.rows(sql, values));
      return this.#watch.run('read', rows, () => this.#watch.run('read', rows));
    };
    this.#queries = { rows: read };
    this.#jobs = this.#startJobs();
  }

  lost(): Promise<LostCounts> {
    return readLost(this.#queries);
  }

  find(ref: string): Promise<Call | undefined> {
    return findCall(this.#queries, ref, this.#deps.clock);
  }

  list(query: CallQuery): Promise<CallPage> {
    return listCalls(this.#queries, query, this.#deps.clock);
  }

  export(filter: Omit<CallQuery, 'limit'>): AsyncIterable<CallChunk> {
    return exportCalls(this.#queries, filter, this.#deps.clock);
  }

  countSignals(ref: string, count: number): void {
    this.#signals.count(ref, count);
  }

  health(): StoreHealth {
    return this.#watch.health();
  }

  async close(): Promise<void> {
    const { database, log } = this.#deps;
    this.#watch.stop();
    try {
      await withDeadline(this.#writeRest(), LAST_WRITES_MS, () => new Error('the database does not answer'));
    } catch (error) {
      log.warn({ err: error }, 'the last events were not recorded');
    }
    // Writes that exceed the limit stop before their next statement.
    this.#isClosed = true;
    await database.close();
  }

  #startJobs(): Periodic[] {
    const { clock, random, log } = this.#deps;
    return [
      {
        failure: 'calls are not recorded',
        recovery: 'calls are recorded again',
        everyMs: RECORD_MS,
        name: 'record',
        work: () => this.#record(),
      },
      {
        failure: 'signals are not recorded',
        recovery: 'signals are recorded again',
        everyMs: SIGNALS_MS,
        name: 'signals',
        work: () => this.#signals.write(),
      },
      {
        failure: 'call records are not cleared away',
        recovery: 'call records are cleared away again',
        everyMs: SWEEP_MS,
        name: 'clean-up',
        work: () => this.#sweep(),
      },
    ].map(({ name, work, ...job }) =>
      startPeriodic({ ...job, work: () => this.#watch.run(name, work), clock, random, log }),
    );
  }

  async #sweep(): Promise<boolean> {
    // Open calls are moved by a step of the clock before their age is compared with it.
    while (!this.#isClosed && (await this.#record()));
    return sweep({ ...this.#deps, steady: this.#steady });
  }

  async #record(): Promise<boolean> {
    // Before the first event of this process is recorded, so that its own calls are not ended as orphans.
    if (this.#deps.endsWithProcess && !this.#orphansEnded) await endOrphans(this.#deps);
    this.#orphansEnded = true;
    return this.#recorder.record();
  }

  async #writeRest(): Promise<void> {
    await Promise.all(this.#jobs.map((job) => job.stop()));
    while (!this.#isClosed && (await this.#record()));
    while (!this.#isClosed && (await this.#signals.write()));
    // Rooms in memory end with their process.
    if (this.#deps.endsWithProcess && !this.#isClosed) await endOrphans(this.#deps);
  }
}
