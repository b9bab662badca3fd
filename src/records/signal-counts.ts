/**
 * The signals of this node, until they are written. A batch has a number, and a row says which one was written last: when
 * the answer of the database is lost the batch is offered again, and counted once.
 */
import type { Database } from '../database/database.ts';
import type { Log } from '../support/log.ts';
import type { Random } from '../support/random.ts';
import { addFeed, advance, knownCursor } from './feed-cursor.ts';
import { upsert } from './sql.ts';

export interface SignalCounts {
  count(ref: string, count: number): void;
  /**
   * @returns whether there are more to be written at once.
   * @throws what the database throws; nothing is lost by that.
   */
  write(): Promise<boolean>;
}

export interface SignalCountsDeps {
  readonly database: Database;
  readonly clock: { now(): number };
  readonly random: Random;
  readonly log: Log;
  /** Of so many rooms at most, while the database is away. */
  readonly maxRooms?: number;
}

const MAX_ROOMS = 10_000;
const BATCH = 200;
const LIFE_BYTES = 12;
const TABLE = { table: 'signalbox_signals', columns: 'ref, signals, counted_at', keyed: 1, added: ['signals'] };

interface SignalBatch {
  readonly number: number;
  readonly rows: readonly (readonly [ref: string, count: number])[];
  readonly lost: number;
}

export function createSignalCounts({
  database,
  clock,
  random,
  log,
  maxRooms = MAX_ROOMS,
}: SignalCountsDeps): SignalCounts {
  const life = `signals ${random.text(LIFE_BYTES)}`;
  const waiting = new Map<string, number>();
  let lost = 0;
  let underWay: SignalBatch | undefined;
  let written = 0;

  const next = (): SignalBatch | undefined => {
    // In one order on all nodes: two that took the same rows in different ones would wait for each other.
    const rows = [...waiting].slice(0, BATCH).sort(([a], [b]) => (a < b ? -1 : 1));
    if (rows.length === 0 && lost === 0) return undefined;
    for (const [ref] of rows) waiting.delete(ref);
    const batch = { number: written + 1, rows, lost };
    lost = 0;
    return batch;
  };

  return {
    count(ref, count) {
      if (count === 0) return;
      const known = waiting.get(ref);
      if (known === undefined && waiting.size >= maxRooms) lost += count;
      else waiting.set(ref, (known ?? 0) + count);
    },
    async write() {
      underWay ??= next();
      if (underWay === undefined) return false;
      await writeBatch(database, life, underWay, clock.now());
      if (underWay.lost > 0) log.warn({ lost: underWay.lost }, 'signals were not counted: too many rooms had some');
      written = underWay.number;
      underWay = undefined;
      return waiting.size > 0;
    },
  };
}

async function writeBatch(
  database: Database,
  life: string,
  { number, rows, lost }: SignalBatch,
  now: number,
): Promise<void> {
  const step = { feed: life, from: String(number - 1), to: String(number), lostSignals: lost, now };
  await database.transaction(async (queries) => {
    if (!(await advance(queries, step))) {
      if ((await knownCursor(queries, life)) === step.to) return;
      // The first of this process, or what there was of it has been cleared away.
      await addFeed(queries, database, life, step.from, now);
      await advance(queries, step);
    }
    const values = rows.map(([ref, count]) => [ref, count, now]);
    await upsert(queries, database.dialect, TABLE, values);
  });
}
