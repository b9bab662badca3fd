/**
 * Periodic clean-up of the records: ends calls that will never get an end event, because their process died or their
 * store was emptied, and deletes calls whose retention is over. One node at a time, a limited number of calls per run.
 */
import type { Database, Queries } from '../database/database.ts';
import { UNKNOWN } from './reduce.ts';
import { placeholders } from './sql.ts';

export interface SweepDeps {
  readonly database: Database;
  readonly feedName: string;
  /** How long calls are kept after their end; 0 for ever. */
  readonly retentionMs: number;
  readonly clock: { now(): number };
  /** Goes on from the start of the process, whatever the wall clock is set to. */
  readonly steady: { now(): number };
}

export const SWEEP_MS = 60_000;
const MAX_CALLS = 100;
/** After the latest possible end of a room: for its late expiry, for the delay of the recorder, and for clock skew. */
const MARGIN_MS = 10 * 60_000;
/** A feed whose cursor has not moved for this long belongs to a process that no longer exists. */
const FEED_RETENTION_MS = 30 * 24 * 3_600_000;

/** Also when the last turn lies in the future: the clock was set back. */
const TAKE_TURN = 'UPDATE signalbox_feeds SET swept_at = ? WHERE feed = ? AND (swept_at <= ? OR swept_at > ?)';

/**
 * Before this program existed: recorded by a machine that did not know the time yet. How old such a record is nobody
 * knows, so it is kept.
 */
const FIRST_TRUE_INSTANT = Date.UTC(2020, 0);

/** @returns whether more is left to do now. */
export async function sweep({ database, feedName, retentionMs, clock, steady }: SweepDeps): Promise<boolean> {
  // After a step of the wall clock, the earlier time: rather late than records that are not old.
  const now = Math.min(clock.now(), steady.now());
  return database.transaction(async (queries) => {
    if ((await queries.run(TAKE_TURN, [now, feedName, now - SWEEP_MS, now + SWEEP_MS])) === 0) return false;
    const overdue = await endCalls(queries, 'expires_at < ?', now - MARGIN_MS);
    const old = retentionMs === 0 ? 0 : await deleteOld(queries, now - retentionMs);
    const stale = 'DELETE FROM signalbox_feeds WHERE moved_at < ? AND lost = 0 AND lost_signals = 0 AND feed <> ?';
    await queries.run(stale, [now - FEED_RETENTION_MS, feedName]);
    const more = overdue === MAX_CALLS || old === MAX_CALLS;
    if (more) await queries.run(TAKE_TURN, [0, feedName, now, now]);
    return more;
  });
}

/** Ends the calls that an earlier process left open: its rooms were in its memory. */
export async function endOrphans({ database, feedName }: Pick<SweepDeps, 'database' | 'feedName'>): Promise<void> {
  const endBatch = () => database.transaction((queries) => endCalls(queries, 'feed = ?', feedName));
  while ((await endBatch()) === MAX_CALLS);
}

/** Ends calls at the timestamp of their last event. @returns the number of calls */
async function endCalls(queries: Queries, condition: string, value: string | number): Promise<number> {
  const refs = await refsOf(queries, `ended_at IS NULL AND ${condition}`, value);
  if (refs.length === 0) return 0;
  const inRefs = `ref IN ${placeholders(refs.length)}`;
  const lastAt = 'SELECT last_at FROM signalbox_calls WHERE signalbox_calls.ref = signalbox_participants.ref';
  await queries.run(
    `UPDATE signalbox_participants SET left_at = (${lastAt}), reason = '${UNKNOWN}' WHERE ${inRefs} AND left_at IS NULL`,
    refs,
  );
  await queries.run(
    `UPDATE signalbox_calls SET ended_at = last_at, reason = '${UNKNOWN}', members = 0, complete = 0 WHERE ${inRefs}`,
    refs,
  );
  return refs.length;
}

async function deleteOld(queries: Queries, before: number): Promise<number> {
  const refs = await refsOf(queries, `ended_at >= ${FIRST_TRUE_INSTANT} AND ended_at < ?`, before);
  for (const table of refs.length === 0 ? [] : ['signalbox_participants', 'signalbox_signals', 'signalbox_calls']) {
    await queries.run(`DELETE FROM ${table} WHERE ref IN ${placeholders(refs.length)}`, refs);
  }
  // Counts of calls that have no record.
  const called = 'SELECT 1 FROM signalbox_calls WHERE signalbox_calls.ref = signalbox_signals.ref';
  await queries.run(`DELETE FROM signalbox_signals WHERE counted_at < ? AND NOT EXISTS (${called})`, [before]);
  return refs.length;
}

async function refsOf(queries: Queries, condition: string, value: string | number): Promise<string[]> {
  const found = await queries.rows(`SELECT ref FROM signalbox_calls WHERE ${condition} LIMIT ${MAX_CALLS}`, [value]);
  return found.map((row) => String(row['ref']));
}
