/**
 * What no event tells: calls that will never see their end, because the process that held them has died or their store
 * was emptied, and records that have been kept for long enough. One node does it at a time, a little at each time.
 */
import type { Database, Queries } from '../database/database.ts';
import { UNKNOWN } from './fold.ts';
import { places } from './sql.ts';

export interface SweepParts {
  readonly database: Database;
  readonly feedName: string;
  /** For how long calls are kept after their end; 0 for ever. */
  readonly keptMs: number;
  readonly clock: { now(): number };
}

export const SWEEP_MS = 60_000;
const MOST = 100;
/** A room is not ended at the very instant at which it must, nor is that recorded at once; and clocks differ. */
const MARGIN_MS = 10 * 60_000;
/** A feed of which nothing has been heard for so long is over: the next process has another. */
const FEED_KEPT_MS = 30 * 24 * 3_600_000;

const TURN = 'UPDATE signalbox_feeds SET swept_at = ? WHERE feed = ? AND swept_at <= ?';

/** @returns whether there is more to be done at once. */
export async function sweep({ database, feedName, keptMs, clock }: SweepParts): Promise<boolean> {
  const now = clock.now();
  return database.transaction(async (queries) => {
    if ((await queries.run(TURN, [now, feedName, now - SWEEP_MS])) === 0) return false;
    const overdue = await endForgotten(queries, 'expires_at < ?', now - MARGIN_MS);
    const old = keptMs === 0 ? 0 : await dropOld(queries, now - keptMs);
    const stale = 'DELETE FROM signalbox_feeds WHERE moved_at < ? AND lost = 0 AND lost_signals = 0 AND feed <> ?';
    await queries.run(stale, [now - FEED_KEPT_MS, feedName]);
    const more = overdue === MOST || old === MOST;
    if (more) await queries.run(TURN, [0, feedName, now]);
    return more;
  });
}

/** Ends what a former life of this process has left open: its rooms are gone with it. */
export async function endOrphans({ database, feedName }: Pick<SweepParts, 'database' | 'feedName'>): Promise<void> {
  const some = () => database.transaction((queries) => endForgotten(queries, 'feed = ?', feedName));
  while ((await some()) === MOST);
}

/** The last thing that is known of a call is taken for its end. @returns how many */
async function endForgotten(queries: Queries, which: string, value: string | number): Promise<number> {
  const refs = await refsOf(queries, `ended_at IS NULL AND ${which}`, value);
  if (refs.length === 0) return 0;
  const among = `ref IN ${places(refs.length)}`;
  const lastAt = 'SELECT last_at FROM signalbox_calls WHERE signalbox_calls.ref = signalbox_sessions.ref';
  await queries.run(
    `UPDATE signalbox_sessions SET left_at = (${lastAt}), reason = '${UNKNOWN}' WHERE ${among} AND left_at IS NULL`,
    refs,
  );
  await queries.run(
    `UPDATE signalbox_calls SET ended_at = last_at, reason = '${UNKNOWN}', members = 0, complete = 0 WHERE ${among}`,
    refs,
  );
  return refs.length;
}

async function dropOld(queries: Queries, before: number): Promise<number> {
  const refs = await refsOf(queries, 'ended_at < ?', before);
  for (const table of refs.length === 0 ? [] : ['signalbox_sessions', 'signalbox_signals', 'signalbox_calls']) {
    await queries.run(`DELETE FROM ${table} WHERE ref IN ${places(refs.length)}`, refs);
  }
  // Of calls of which no event was ever recorded.
  const called = 'SELECT 1 FROM signalbox_calls WHERE signalbox_calls.ref = signalbox_signals.ref';
  await queries.run(`DELETE FROM signalbox_signals WHERE counted_at < ? AND NOT EXISTS (${called})`, [before]);
  return refs.length;
}

async function refsOf(queries: Queries, which: string, value: string | number): Promise<string[]> {
  const found = await queries.rows(`SELECT ref FROM signalbox_calls WHERE ${which} LIMIT ${MOST}`, [value]);
  return found.map((row) => String(row['ref']));
}
