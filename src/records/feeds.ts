/** The table of feeds: how far each has been read. Who moves a row first has it; all others are told that they were late. */
import type { Database, Queries } from '../database/database.ts';
import { insertOnce } from './sql.ts';

export interface Move {
  readonly feed: string;
  /** Where it was read from, and to. */
  readonly from: string;
  readonly to: string;
  /** What nobody could read on the way. */
  readonly lost?: number;
  readonly lostSignals?: number;
  readonly now: number;
}

const PLACE = 'SELECT place FROM signalbox_feeds WHERE feed = ?';
const LOSE = 'UPDATE signalbox_feeds SET lost = lost + ? WHERE feed = ?';
const MOVE = `
  UPDATE signalbox_feeds SET place = ?, lost = lost + ?, lost_signals = lost_signals + ?, moved_at = ?
  WHERE feed = ? AND place = ?`;

/** @returns how far the feed has been read; empty at the beginning. */
export async function placeOf(database: Database, feed: string, now: number): Promise<string> {
  const known = await knownPlace(database, feed);
  if (known !== undefined) return known;
  // In no transaction: two that insert the same row inside of theirs would wait for each other.
  await addFeed(database, database, feed, '', now);
  return (await knownPlace(database, feed)) ?? '';
}

export async function knownPlace(queries: Queries, feed: string): Promise<string | undefined> {
  const [row] = await queries.rows(PLACE, [feed]);
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
 * The first statement of its transaction: until that ends, nobody else moves this feed, and what is read after it is as
 * the one before has left it.
 *
 * @returns false when somebody else has moved it from there; nothing was written.
 */
export async function move(
  queries: Queries,
  { feed, from, to, lost = 0, lostSignals = 0, now }: Move,
): Promise<boolean> {
  return (await queries.run(MOVE, [to, lost, lostSignals, now, feed, from])) > 0;
}

/** Counts events that nobody can write, in the transaction that moves the feed past them. */
export async function addLost(queries: Queries, feed: string, lost: number): Promise<void> {
  if (lost > 0) await queries.run(LOSE, [lost, feed]);
}
