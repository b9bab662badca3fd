/**
 * Feed cursors: how far each feed has been recorded. Advancing one is a compare-and-set: of several nodes that read the
 * same page one succeeds, and the others learn that they were late.
 */
import type { Database, Queries } from '../database/database.ts';
import { insertOnce } from './sql.ts';

export interface CursorMove {
  readonly feed: string;
  /** Positions before and after the page. */
  readonly from: string;
  readonly to: string;
  /** Events, and signals, between the two positions that were dropped unread. */
  readonly lost?: number;
  readonly lostSignals?: number;
  readonly now: number;
}

const SELECT_CURSOR = 'SELECT place FROM signalbox_feeds WHERE feed = ?';
const ADD_LOST = 'UPDATE signalbox_feeds SET lost = lost + ? WHERE feed = ?';
const ADVANCE = `
  UPDATE signalbox_feeds SET place = ?, lost = lost + ?, lost_signals = lost_signals + ?, moved_at = ?
  WHERE feed = ? AND place = ?`;

/** @returns the position of the feed; empty at the beginning. */
export async function cursorOf(database: Database, feed: string, now: number): Promise<string> {
  const known = await knownCursor(database, feed);
  if (known !== undefined) return known;
  // Outside a transaction: two transactions that insert the same row would wait for each other.
  await addFeed(database, database, feed, '', now);
  return (await knownCursor(database, feed)) ?? '';
}

export async function knownCursor(queries: Queries, feed: string): Promise<string | undefined> {
  const [row] = await queries.rows(SELECT_CURSOR, [feed]);
  return row === undefined ? undefined : String(row['place']);
}

export async function addFeed(
  queries: Queries,
  { dialect }: Pick<Database, 'dialect'>,
  feed: string,
  place: string,
  now: number,
): Promise<void> {
  const columns = 'feed, place, lost, lost_signals, moved_at, swept_at';
  await queries.run(insertOnce(dialect, 'signalbox_feeds', columns), [feed, place, 0, 0, now, 0]);
}

/**
 * MUST be the first statement of its transaction: it locks the row of the feed, so later reads see what the previous
 * holder of the lock has written.
 *
 * @returns false when another node has advanced it from there; nothing was written.
 */
export async function advance(
  queries: Queries,
  { feed, from, to, lost = 0, lostSignals = 0, now }: CursorMove,
): Promise<boolean> {
  return (await queries.run(ADVANCE, [to, lost, lostSignals, now, feed, from])) > 0;
}

/** Counts skipped events, in the transaction that advances the cursor past them. */
export async function addLost(queries: Queries, feed: string, lost: number): Promise<void> {
  if (lost > 0) await queries.run(ADD_LOST, [lost, feed]);
}
