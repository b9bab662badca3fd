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

/** @param created the rooms created so far; a new one is added, under the next ref. */
export async function runCommand(
  rooms: EngineHarness,
  created: CreatedRoom[],
  command: Exclude<RoomCommand, { do: 'record' }>,
  ref = refOf(created.length + 1),
): Promise<void> {
  if (command.do === 'wait') {
    rooms.clock.advance(command.ms);
    return void (await rooms.tick());
  }
  if (command.do === 'create') {
    const outcome = await (command.hostless ? rooms.createWithoutHost({ ref }) : rooms.create(command.user, { ref }));
    if (outcome.ok) created.push({ code: outcome.room.code, ref: outcome.room.ref });
    return;
  }
  const room = created[command.room % Math.max(1, created.length)];
  if (room === undefined) return;
  const { user: who } = command;
  if (command.do === 'join') await rooms.join(room, who, { profile: { name: who, mediaType: 'video' } });
  else if (command.do === 'kick') await rooms.kick(room, who, command.target);
  else if (command.do === 'resume') await rooms.resume(room, who, 1);
  else if (command.do === 'profile') await rooms.updateSeat(room, who, { name: `${who} again`, mediaType: 'audio' });
  else if (command.do === 'rename') await rooms.updateRoom(room, who, { name: 'another', type: 'talk' });
  else if (command.do === 'close') await rooms.close(room, who);
  else if (command.do === 'leave') await rooms.leave(room, who);
  else await rooms.suspend(room, who);
}

export function eventsByRef(events: readonly FeedEvent[]): Map<string, RoomFeedEvent[]> {
  const byRef = new Map<string, RoomFeedEvent[]>();
  for (const event of events) {
    if (event.ref !== null) byRef.set(event.ref, [...(byRef.get(event.ref) ?? []), event]);
  }
  return byRef;
}
