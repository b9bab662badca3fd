/**
 * Writes events one by one where all of them at once have been refused again and again: the one that can never be written
 * is passed over, for else nothing that comes after it would be recorded until the feed has dropped it.
 */
import { DatabaseUnavailable, type Queries } from '../database/database.ts';
import type { RoomFeedEvent } from '../protocol/feed.ts';
import type { CallRow, SessionRow } from './rows.ts';
import { saveChanges, type WritingParts, writeEvents } from './writing.ts';

export interface Unwritable {
  readonly event: RoomFeedEvent;
  readonly error: unknown;
}

/**
 * @param queries of a transaction.
 * @returns those that were passed over.
 * @throws the refusal of an event, when the database would refuse any other as well: then it is not the event.
 */
export async function writeOneByOne(
  queries: Queries,
  parts: WritingParts,
  events: readonly RoomFeedEvent[],
): Promise<Unwritable[]> {
  const unwritable: Unwritable[] = [];
  for (const event of events) {
    await queries.run('SAVEPOINT before_event');
    try {
      await writeEvents(queries, parts, [event]);
    } catch (error) {
      if (error instanceof DatabaseUnavailable) throw error;
      await queries.run('ROLLBACK TO SAVEPOINT before_event');
      if (!(await takesRecords(queries, parts))) throw error;
      unwritable.push({ event, error });
    }
    await queries.run('RELEASE SAVEPOINT before_event');
  }
  return unwritable;
}

/** Whether a record can be written into which nobody has put anything. It is taken back. */
async function takesRecords(queries: Queries, { database, feedName }: WritingParts): Promise<boolean> {
  const calls = new Map([[TRIAL, { ...call, feed: feedName }]]);
  try {
    await saveChanges(queries, database, { calls, sessions: new Map([[TRIAL, session]]), abandoned: [], moved: [] });
  } catch (error) {
    if (error instanceof DatabaseUnavailable) throw error;
    return false;
  }
  await queries.run('ROLLBACK TO SAVEPOINT before_event');
  return true;
}

const TRIAL = 'trial';

const call: Omit<CallRow, 'feed'> = {
  ref: TRIAL,
  code: TRIAL,
  type: TRIAL,
  name: null,
  createdAt: 0,
  expiresAt: 0,
  endedAt: null,
  reason: null,
  hostId: null,
  createdBy: null,
  members: 0,
  peakMembers: 0,
  totalMembers: 0,
  complete: false,
  rev: 0,
  lastAt: 0,
};

const session: SessionRow = {
  ref: TRIAL,
  userId: TRIAL,
  name: null,
  seq: 0,
  joinedAt: 0,
  leftAt: null,
  reason: null,
  mediaType: null,
  calledAt: 0,
};
