/** The clock of a store in memory was set: the calls that are open in it have begun by another time than they go on. */
import type { Queries } from '../database/database.ts';

const OPEN = 'feed = ? AND ended_at IS NULL';
const SHIFT_PARTICIPANTS = `
  UPDATE signalbox_participants SET joined_at = joined_at + ?, left_at = left_at + ?, called_at = called_at + ?
  WHERE ref IN (SELECT ref FROM signalbox_calls WHERE ${OPEN})`;
const SHIFT_CALLS = `
  UPDATE signalbox_calls SET created_at = created_at + ?, expires_at = expires_at + ?, last_at = last_at + ?
  WHERE ${OPEN}`;

/** Moves their instants by the step, as the store has moved its own: their durations stay, and the instants become right. */
export async function shiftOpenCalls(queries: Queries, feed: string, ms: number): Promise<void> {
  await queries.run(SHIFT_PARTICIPANTS, [ms, ms, ms, feed]);
  await queries.run(SHIFT_CALLS, [ms, ms, ms, feed]);
}
