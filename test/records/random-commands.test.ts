/** Random commands on rooms: the records equal those computed from all events at once. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Database } from '../../src/database/database.ts';
import { openDatabase } from '../../src/database/open.ts';
import { listCalls } from '../../src/records/read.ts';
import { temporaryFolder } from '../support/process.ts';
import { type CreatedRoom, eventsByRef, type RoomCommand, roomCommand, runCommand } from './commands.ts';
import { expectedCall } from './expected-call.ts';
import { recordAll, recorderOf, startRooms } from './harness.ts';

test('the records equal the expected calls, however the events are split into pages', async () => {
  await using folder = await temporaryFolder();
  let runs = 0;
  const property = fc.asyncProperty(
    fc.array(roomCommand, { minLength: 10, maxLength: 60, size: 'max' }),
    async (commands) => {
      runs += 1;
      const database = openDatabase(`sqlite:${folder.path}/${runs}.db`);
      try {
        await runAndCompare(commands, database);
      } finally {
        await database.close();
      }
    },
  );
  await fc.assert(property, { numRuns: 100, interruptAfterTimeLimit: 30_000 });
});

async function runAndCompare(commands: readonly RoomCommand[], database: Database): Promise<void> {
  const rooms = startRooms();
  const created: CreatedRoom[] = [];
  for (const command of commands) {
    if (command.do === 'record') await recordAll(recorderOf(database, rooms));
    else await runCommand(rooms, created, command);
  }
  await recordAll(recorderOf(database, rooms));
  const { events } = await rooms.engine.feed.read({ limit: 100_000 });
  const { calls } = await listCalls(database, { limit: 1_000 });
  const byRef = new Map(calls.map((call) => [call.ref, call]));
  const fed = eventsByRef(events);
  expect([...byRef.keys()].sort()).toEqual([...fed.keys()].sort());
  for (const [ref, events] of fed) expect(byRef.get(ref)).toEqual({ ...expectedCall(events), signals: 0 });
}
