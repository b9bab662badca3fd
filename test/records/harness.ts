/** Test harness of the call records: rooms in memory, whose feed is recorded when a test calls for it. */
import type { Database } from '../../src/database/database.ts';
import type { Feed } from '../../src/engine/feed.ts';
import { createMemoryEngine } from '../../src/engine/memory.ts';
import { createRecorder, type RecorderDeps } from '../../src/records/recorder.ts';
import { silentLog } from '../../src/support/log.ts';
import { createHandClock, EngineHarness, settingsOf } from '../engine/harness.ts';
import { POLICY } from '../room/fixtures.ts';

export const FEED = 'memory';

/** Rooms with a feed of the newest `feedMaxEvents` events. */
export function startRooms(feedMaxEvents = 10_000): EngineHarness {
  const clock = createHandClock();
  return new EngineHarness(createMemoryEngine({ ...settingsOf(9_000), feedMaxEvents }, clock), clock);
}

/** Dependencies of a recorder of these rooms' feed. */
export const recorderOf = (
  database: Database,
  { engine, clock }: { readonly engine: { readonly feed: Feed }; readonly clock: { now(): number } },
  more: Partial<RecorderDeps> = {},
): RecorderDeps => ({
  database,
  feed: engine.feed,
  feedName: FEED,
  maxAgeMs: POLICY.maxAgeMs,
  clock,
  log: silentLog,
  ...more,
});

/** Records until nothing is left. */
export async function recordAll(parts: RecorderDeps): Promise<void> {
  const recorder = createRecorder(parts);
  while (await recorder.record());
}

export const recordRooms = (rooms: EngineHarness, database: Database): Promise<void> =>
  recordAll(recorderOf(database, rooms));
