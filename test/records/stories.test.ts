/** Random stories of rooms: the records are what a plain reading of the events makes of them. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Database } from '../../src/database/database.ts';
import { openDatabase } from '../../src/database/open.ts';
import type { RoomFeedEvent } from '../../src/protocol/feed.ts';
import type { Call, CallParticipant } from '../../src/records/port.ts';
import { listCalls } from '../../src/records/read.ts';
import { temporaryFolder } from '../support/process.ts';
import { type Act, act, byRefOf, type Made, perform } from './acts.ts';
import { recordAll, recorderOf, startRooms } from './stage.ts';

test('the records equal a fold of the events, however they come in pages', async () => {
  await using folder = await temporaryFolder();
  let runs = 0;
  const property = fc.asyncProperty(fc.array(act, { minLength: 10, maxLength: 60, size: 'max' }), async (acts) => {
    runs += 1;
    const database = openDatabase(`sqlite:${folder.path}/${runs}.db`);
    try {
      await play(acts, database);
    } finally {
      await database.close();
    }
  });
  await fc.assert(property, { numRuns: 100, interruptAfterTimeLimit: 30_000 });
});

async function play(acts: readonly Act[], database: Database): Promise<void> {
  const rooms = startRooms();
  const made: Made[] = [];
  for (const each of acts) {
    if (each.do === 'record') await recordAll(recorderOf(database, rooms));
    else await perform(rooms, made, each);
  }
  await recordAll(recorderOf(database, rooms));
  const { events } = await rooms.engine.feed.read({ limit: 100_000 });
  const { calls } = await listCalls(database, { limit: 1_000 });
  const byRef = new Map(calls.map((call) => [call.ref, call]));
  const told = byRefOf(events);
  expect([...byRef.keys()].sort()).toEqual([...told.keys()].sort());
  for (const [ref, story] of told) expect(byRef.get(ref)).toEqual(plainCall(story));
}

/** What somebody would make of it who has all events of a room before them. */
function plainCall(story: readonly RoomFeedEvent[]): Call {
  const [created] = story;
  if (created?.type !== 'room_created') return expect.unreachable();
  const infos = story.flatMap((event) => ('room' in event ? [event.room] : []));
  const hosts = story.flatMap((event) => {
    if (event.type === 'host_changed') return event.userId ?? [];
    return 'member' in event && event.member.role === 'host' ? event.userId : [];
  });
  const end = story.find((event) => event.type === 'room_destroyed');
  const sessions = story.flatMap((event, index) =>
    event.type === 'user_joined' ? [plainSession(event, story.slice(index + 1))] : [],
  );
  const taken = story.map((_, index) =>
    story
      .slice(0, index + 1)
      .reduce((sum, { type }) => sum + Number(type === 'user_joined') - Number(type === 'user_left'), 0),
  );
  return {
    ref: created.ref,
    code: created.code,
    type: infos.at(-1)?.type ?? '',
    name: infos.at(-1)?.name ?? null,
    createdAt: created.timestamp,
    endedAt: end?.timestamp ?? null,
    reason: end?.reason ?? null,
    hostId: hosts.at(-1) ?? null,
    createdBy: created.userId,
    peakMembers: Math.max(...taken),
    totalMembers: new Set(sessions.map(({ userId }) => userId)).size,
    signals: 0,
    complete: true,
    participants: sessions,
  };
}

function plainSession(
  { userId, member, timestamp }: Extract<RoomFeedEvent, { type: 'user_joined' }>,
  later: readonly RoomFeedEvent[],
): CallParticipant {
  const own = later.filter((event) => event.userId === userId);
  const left = own.find((event) => event.type === 'user_left');
  const until = left === undefined ? own : own.slice(0, own.indexOf(left));
  const states = [member, ...until.flatMap((event) => ('member' in event ? [event.member] : []))];
  return {
    userId,
    name: states.at(-1)?.name ?? null,
    seq: member.seq,
    joinedAt: timestamp,
    leftAt: left?.timestamp ?? null,
    reason: left?.reason ?? null,
    mediaType: states.at(-1)?.mediaType ?? null,
  };
}
