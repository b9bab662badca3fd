/** Random stories of rooms: the records are what a plain reading of the events makes of them. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Database } from '../../src/database/database.ts';
import { openDatabase } from '../../src/database/open.ts';
import type { FeedEvent, RoomFeedEvent } from '../../src/protocol/feed.ts';
import type { RoomCode, RoomRef } from '../../src/protocol/ids.ts';
import type { Call, CallSession } from '../../src/records/calls.ts';
import { listCalls } from '../../src/records/reading.ts';
import { refOf, type Stage } from '../engine/stage.ts';
import { temporaryFolder } from '../support/process.ts';
import { recordAll, recorderOf, startRooms } from './stage.ts';

interface Made {
  readonly code: RoomCode;
  readonly ref: RoomRef;
}

const USERS = ['anna', 'Anna', 'ben', 'zoe'];
const room = fc.nat(4);
const user = fc.constantFrom(...USERS);
const act = fc.oneof(
  { weight: 2, arbitrary: fc.record({ do: fc.constant('create' as const), user, hostless: fc.boolean() }) },
  { weight: 6, arbitrary: fc.record({ do: fc.constant('join' as const), room, user }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constantFrom('leave', 'suspend', 'resume'), room, user }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constantFrom('profile', 'rename', 'close'), room, user }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('kick' as const), room, user, target: user }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('wait' as const), ms: fc.constantFrom(1, 40_000, 400_000) }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('record' as const) }) },
);
type Act = typeof act extends fc.Arbitrary<infer T> ? T : never;

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
  for (const each of acts) await perform(rooms, made, each, database);
  await recordAll(recorderOf(database, rooms));
  const { events } = await rooms.engine.feed.read({ limit: 100_000 });
  const { calls } = await listCalls(database, { limit: 1_000 });
  const byRef = new Map(calls.map((call) => [call.ref, call]));
  const told = byRefOf(events);
  expect([...byRef.keys()].sort()).toEqual([...told.keys()].sort());
  for (const [ref, story] of told) expect(byRef.get(ref)).toEqual(plainCall(story));
}

async function perform(rooms: Stage, made: Made[], each: Act, database: Database): Promise<void> {
  if (each.do === 'record') return recordAll(recorderOf(database, rooms));
  if (each.do === 'wait') {
    rooms.clock.advance(each.ms);
    return void (await rooms.tick());
  }
  if (each.do === 'create') {
    const ref = refOf(made.length + 1);
    const outcome = await (each.hostless ? rooms.found({ ref }) : rooms.create(each.user, { ref }));
    if (outcome.ok) made.push({ code: outcome.room.code, ref: outcome.room.ref });
    return;
  }
  const at = made[each.room % Math.max(1, made.length)];
  if (at === undefined) return;
  const { user: who } = each;
  if (each.do === 'join') await rooms.join(at, who, { profile: { name: who, mediaType: 'video' } });
  else if (each.do === 'kick') await rooms.kick(at, who, each.target);
  else if (each.do === 'resume') await rooms.resume(at, who, 1);
  else if (each.do === 'profile') await rooms.updateSeat(at, who, { name: `${who} again`, mediaType: 'audio' });
  else if (each.do === 'rename') await rooms.updateRoom(at, who, { name: 'another', type: 'talk' });
  else if (each.do === 'close') await rooms.close(at, who);
  else if (each.do === 'leave') await rooms.leave(at, who);
  else await rooms.suspend(at, who);
}

function byRefOf(events: readonly FeedEvent[]): Map<string, RoomFeedEvent[]> {
  const stories = new Map<string, RoomFeedEvent[]>();
  for (const event of events) {
    if (event.ref !== null) stories.set(event.ref, [...(stories.get(event.ref) ?? []), event]);
  }
  return stories;
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
    sessions,
  };
}

function plainSession(
  { userId, member, timestamp }: Extract<RoomFeedEvent, { type: 'user_joined' }>,
  later: readonly RoomFeedEvent[],
): CallSession {
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
