/**
 * Signal counts of this node, buffered and written in batches. Exactly once: batches are numbered, and the number of the
 * last one is written with it, so a batch that is sent again after a lost answer is not counted twice.
 */
import type { Database } from '../database/database.ts';
import type { Log } from '../support/log.ts';
import type { Random } from '../support/random.ts';
import { addFeed, advance, knownCursor } from './feed-cursor.ts';
import { upsert } from './sql.ts';

export interface SignalCounts {
  count(ref: string, count: number): void;
  /**
   * @returns whether more is left to write now.
   * @throws errors of the database; no count is lost by that.
   */
  write(): Promise<boolean>;
}

export interface SignalCountsDeps {
  readonly database: Database;
  readonly clock: { now(): number };
  readonly random: Random;
  readonly log: Log;
  /** Bound of the buffer while the database is away. */
  readonly maxRooms?: number;
}

const MAX_ROOMS = 10_000;
const BATCH_ROOMS = 200;
const NAME_BYTES = 12;
const TABLE = { table: 'signalbox_signals', columns: 'ref, signals, counted_at', keyed: 1, added: ['signals'] };

interface SignalBatch {
  readonly number: number;
  readonly rows: readonly (readonly [ref: string, count: number])[];
  readonly lost: number;
}

export function createSignalCounts(deps: SignalCountsDeps): SignalCounts {
  const { database, clock, random, log, maxRooms = MAX_ROOMS } = deps;
  /** Names the batches of this process in the table of feeds. */
  const name = `signals ${random.text(NAME_BYTES)}`;
  const waiting = new Map<string, number>();
  let lost = 0;
  let underWay: SignalBatch | undefined;
  let written = 0;
  return {
    count(ref, count) {
      if (count === 0) return;
      const before = waiting.get(ref);
      if (before === undefined && waiting.size >= maxRooms) lost += count;
      else waiting.set(ref, (before ?? 0) + count);
    },
    async write() {
      if (underWay === undefined) {
        underWay = takeBatch(waiting, written + 1, lost);
        lost = 0;
      }
      if (underWay === undefined) return false;
      await writeBatch(database, name, underWay, clock.now());
      if (underWay.lost > 0) log.warn({ lost: underWay.lost }, 'signals were not counted: too many rooms had some');
      written = underWay.number;
      underWay = undefined;
      return waiting.size > 0;
    },
  };
}

/** Removes a batch from the buffer; undefined when there is nothing to write. */
function takeBatch(waiting: Map<string, number>, number: number, lost: number): SignalBatch | undefined {
  // Sorted, so that all nodes lock rows in the same order: otherwise two could wait for each other.
  const rows = [...waiting].slice(0, BATCH_ROOMS).sort(([a], [b]) => (a < b ? -1 : 1));
  if (rows.length === 0 && lost === 0) return undefined;
  for (const [ref] of rows) waiting.delete(ref);
  return { number, rows, lost };
}

async function writeBatch(
  database: Database,
  name: string,
  { number, rows, lost }: SignalBatch,
  now: number,
): Promise<void> {
  const step = { feed: name, from: String(number - 1), to: String(number), lostSignals: lost, now };
  await database.transaction(async (queries) => {
    if (!(await advance(queries, step))) {
      if ((await knownCursor(queries, name)) === step.to) return;
      // No row yet: it is the first batch of this process, or the clean-up has deleted the row.
      await addFeed(queries, database, name, step.from, now);
      await advance(queries, step);
    }
    const values = rows.map(([ref, count]) => [ref, count, now]);
    await upsert(queries, database.dialect, TABLE, values);
  });
}
