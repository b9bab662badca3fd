/** The expected record of a call, computed from all events of its room: an independent, simple version of the reducer. */
import { expect } from 'vitest';
import type { RoomFeedEvent } from '../../src/protocol/feed.ts';
import type { Call, CallParticipant } from '../../src/records/port.ts';

/** @param events of one room, complete and in order. */
export function expectedCall(events: readonly RoomFeedEvent[]): Omit<Call, 'signals'> {
  const [created] = events;
  if (created?.type !== 'room_created') return expect.unreachable();
  const infos = events.flatMap((event) => ('room' in event ? [event.room] : []));
  const hosts = events.flatMap((event) => {
    if (event.type === 'host_changed') return event.userId ?? [];
    return 'member' in event && event.member.role === 'host' ? event.userId : [];
  });
  const end = events.find((event) => event.type === 'room_destroyed');
  const participants = events.flatMap((event, index) =>
    event.type === 'user_joined' ? [expectedParticipant(event, events.slice(index + 1))] : [],
  );
  const membersAfter = events.map((_, index) =>
    events
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
    peakMembers: Math.max(...membersAfter),
    totalMembers: new Set(participants.map(({ userId }) => userId)).size,
    complete: true,
    participants,
  };
}

function expectedParticipant(
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
