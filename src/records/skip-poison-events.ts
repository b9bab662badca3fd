/**
 * Poison events: events that the database refuses every time. Pages that were refused repeatedly are written event by
 * event, and the refused one is skipped; otherwise it would block all later events until the feed drops it.
 */
import { DatabaseUnavailable, type Queries } from '../database/database.ts';
import type { RoomFeedEvent } from '../protocol/feed.ts';
import type { CallRow, ParticipantRow } from './rows.ts';
import { saveChanges, type WriteDeps, writeEvents } from './write.ts';

export interface PoisonEvent {
  readonly event: RoomFeedEvent;
  readonly error: unknown;
}

/**
 * @param queries of a transaction.
 * @returns the events that were skipped.
 * @throws the refusal, when the database refuses a harmless trial record too: then the event is not the cause.
 */
export async function writeSkippingPoison(
  queries: Queries,
  deps: WriteDeps,
  events: readonly RoomFeedEvent[],
): Promise<PoisonEvent[]> {
  const skipped: PoisonEvent[] = [];
  for (const event of events) {
    await queries.run('SAVEPOINT before_event');
    try {
      await writeEvents(queries, deps, [event]);
    } catch (error) {
      if (error instanceof DatabaseUnavailable) throw error;
      await queries.run('ROLLBACK TO SAVEPOINT before_event');
      if (!(await acceptsTrialRecord(queries, deps))) throw error;
      skipped.push({ event, error });
    }
    await queries.run('RELEASE SAVEPOINT before_event');
  }
  return skipped;
}

/** Whether the database accepts a record of constant values; it is rolled back. */
async function acceptsTrialRecord(queries: Queries, { database, feedName }: WriteDeps): Promise<boolean> {
  const calls = new Map([[TRIAL, { ...trialCall, feed: feedName }]]);
  const participants = new Map([[TRIAL, trialParticipant]]);
  try {
    await saveChanges(queries, database, { calls, participants, abandoned: [], recreated: [] });
  } catch (error) {
    if (error instanceof DatabaseUnavailable) throw error;
    return false;
  }
  await queries.run('ROLLBACK TO SAVEPOINT before_event');
  return true;
}

const TRIAL = 'trial';

const trialCall: Omit<CallRow, 'feed'> = {
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

const trialParticipant: ParticipantRow = {
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
