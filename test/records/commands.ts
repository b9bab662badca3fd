/** Random commands on rooms: what a user does, or time that passes. */
import fc from 'fast-check';
import type { FeedEvent, RoomFeedEvent } from '../../src/protocol/feed.ts';
import type { RoomCode, RoomRef } from '../../src/protocol/ids.ts';
import type { EngineHarness } from '../engine/harness.ts';
import { refOf } from '../room/fixtures.ts';

export interface CreatedRoom {
  readonly code: RoomCode;
  readonly ref: RoomRef;
}

const USERS = ['anna', 'Anna', 'ben', 'zoe'];
const room = fc.nat(4);
const user = fc.constantFrom(...USERS);
export const roomCommand = fc.oneof(
  { weight: 2, arbitrary: fc.record({ do: fc.constant('create' as const), user, hostless: fc.boolean() }) },
  { weight: 6, arbitrary: fc.record({ do: fc.constant('join' as const), room, user }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constantFrom('leave', 'suspend', 'resume'), room, user }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constantFrom('profile', 'rename', 'close'), room, user }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('kick' as const), room, user, target: user }) },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('wait' as const), ms: fc.constantFrom<number>(1, 40_000, 400_000) }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('record' as const) }) },
);
export type RoomCommand = typeof roomCommand extends fc.Arbitrary<infer T> ? T : never;

/** @param made the rooms created so far; a new one is added, under the next ref. */
export async function runCommand(
  rooms: EngineHarness,
  made: CreatedRoom[],
  each: Exclude<RoomCommand, { do: 'record' }>,
  ref = refOf(made.length + 1),
): Promise<void> {
  if (each.do === 'wait') {
    rooms.clock.advance(each.ms);
    return void (await rooms.tick());
  }
  if (each.do === 'create') {
    const outcome = await (each.hostless ? rooms.createWithoutHost({ ref }) : rooms.create(each.user, { ref }));
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

export function eventsByRef(events: readonly FeedEvent[]): Map<string, RoomFeedEvent[]> {
  const stories = new Map<string, RoomFeedEvent[]>();
  for (const event of events) {
    if (event.ref !== null) stories.set(event.ref, [...(stories.get(event.ref) ?? []), event]);
  }
  return stories;
}
