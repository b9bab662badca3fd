/** Law 5: snapshot + events, in the order of their revisions, is the next snapshot. What every client does, as a pure function. */
import type { Member, RoomSnapshot } from '../../src/protocol/snapshot.ts';
import type { RoomEvent } from '../../src/room/outcomes.ts';

/**
 * @returns `null` when the room has ended.
 * @throws RangeError when a revision is missing: a client asks `room:get` then.
 */
export function replay(snapshot: RoomSnapshot | null, event: RoomEvent): RoomSnapshot | null {
  if (snapshot === null) throw new RangeError('an event of a room that has ended');
  if (event.body.ref !== snapshot.ref || event.body.code !== snapshot.code) throw new RangeError('of another room');
  if (event.body.rev !== snapshot.rev + 1) throw new RangeError(`a gap from ${snapshot.rev} to ${event.body.rev}`);
  const changed = change(snapshot, event);
  return changed && { ...changed, rev: event.body.rev };
}

function change(room: RoomSnapshot, event: RoomEvent): RoomSnapshot | null {
  switch (event.name) {
    case 'member:joined':
      return { ...room, members: [...room.members, event.body.member] };
    case 'member:left':
      return { ...room, members: room.members.filter(({ userId }) => userId !== event.body.userId) };
    case 'member:away':
      return { ...room, members: withMember(room, event.body.userId, (member) => ({ ...member, state: 'away' })) };
    case 'member:back':
    case 'member:updated':
      return { ...room, members: withMember(room, event.body.member.userId, () => event.body.member) };
    case 'host:changed': {
      const { hostId } = event.body;
      const role = (member: Member) => (member.userId === hostId ? 'host' : 'member');
      return { ...room, hostId, members: room.members.map((member) => ({ ...member, role: role(member) })) };
    }
    case 'room:updated':
      return { ...event.body.room, members: room.members };
    case 'room:closed':
      return null;
  }
}

function withMember({ members }: RoomSnapshot, userId: string, change: (member: Member) => Member): Member[] {
  return members.map((member) => (member.userId === userId ? change(member) : member));
}
