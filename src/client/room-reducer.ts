/** Pure functions over a room's snapshot: the snapshot after an event, and the differences between two snapshots. */
import type { Member, Push, PushName, RoomInfo, RoomSnapshot } from '../protocol/index.ts';
import type { RoomEvents } from './room.ts';
import type { AnyPush } from './single-use-socket.ts';

type ChangeName = keyof typeof CHANGES;
/** A push that raises the revision of the room. */
export type RoomChange = Extract<AnyPush, { name: ChangeName }>;

const CHANGES = {
  'member:joined': (room, { member }) => ({ ...room, members: [...without(room, member.userId), member] }),
  'member:left': (room, { userId }) => ({ ...room, members: without(room, userId) }),
  'member:away': (room, { userId }) => withMember(room, userId, (member) => ({ ...member, state: 'away' })),
  'member:back': (room, { member }) => withMember(room, member.userId, () => member),
  'member:updated': (room, { member }) => withMember(room, member.userId, () => member),
  'host:changed': (room, { hostId }) => ({
    ...room,
    hostId,
    members: room.members.map((member) => ({ ...member, role: member.userId === hostId ? 'host' : 'member' })),
  }),
  'room:updated': (room, body) => ({ ...body.room, members: room.members }),
  // The snapshot stays as it is: the room ends.
  'room:closed': (room) => room,
} satisfies { [Name in RoomChangeName]: (room: RoomSnapshot, body: Push<Name>) => RoomSnapshot };

/** The pushes with a `rev`, except those that do not raise it: the compiler demands a row for each of them. */
type RoomChangeName = Exclude<
  { [Name in PushName]: Push<Name> extends { readonly rev: number } ? Name : never }[PushName],
  'room:rev' | 'room:code-changed'
>;

export const isChange = (push: AnyPush): push is RoomChange => Object.hasOwn(CHANGES, push.name);

/** The snapshot after the next event. */
export function snapshotAfter(room: RoomSnapshot, { name, body }: RoomChange): RoomSnapshot {
  // Cast: name and body are a pair, which the compiler cannot follow through the union; the table is checked by name.
  const change = CHANGES[name] as (room: RoomSnapshot, body: RoomChange['body']) => RoomSnapshot;
  return { ...change(room, body), rev: body.rev };
}

type DifferenceName = Exclude<RoomChangeName, 'room:closed'> | 'room:code-changed';
/** An event for listeners. */
export type Difference = {
  [Name in DifferenceName]: { readonly name: Name; readonly body: RoomEvents[Name] };
}[DifferenceName];

/** The events that lead from one snapshot to the other. */
export function differences(before: RoomSnapshot, after: RoomSnapshot): Difference[] {
  const found: Difference[] = [];
  for (const member of before.members) {
    if (!after.members.includes(member) && seatIn(after, member) === undefined)
      found.push({ name: 'member:left', body: { member, reason: null } });
  }
  for (const member of after.members) {
    // An event replaces one member. To compare all by value would cost a large room most of its time.
    if (before.members.includes(member)) continue;
    const was = seatIn(before, member);
    if (was === undefined) found.push({ name: 'member:joined', body: { member } });
    else if (was.state !== member.state)
      found.push({ name: `member:${EVENT_OF_STATE[member.state]}`, body: { member } });
    if (was !== undefined && !isSameJson(profileOf(was), profileOf(member)))
      found.push({ name: 'member:updated', body: { member, before: was } });
  }
  if (before.hostId !== after.hostId) found.push({ name: 'host:changed', body: { hostId: after.hostId } });
  if (!isSameJson(settingsOf(before), settingsOf(after)))
    found.push({ name: 'room:updated', body: { room: after, before } });
  if (before.code !== after.code)
    found.push({ name: 'room:code-changed', body: { code: after.code, previousCode: before.code } });
  return found;
}

const EVENT_OF_STATE = { present: 'back', away: 'away' } as const;

/** The same seat: a member that left and joined again has another `seq`. */
const seatIn = (room: RoomSnapshot, { userId, seq }: Member): Member | undefined =>
  room.members.find((member) => member.userId === userId && member.seq === seq);

const profileOf = ({ name, mediaType, metadata }: Member): unknown => [name, mediaType, metadata];

const settingsOf = ({ name, type, maxUsers, access, locked, metadata }: RoomInfo): unknown => [
  name,
  type,
  maxUsers,
  access,
  locked,
  metadata,
];

/** Whether two values that came as JSON are equal. */
export const isSameJson = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other);

const without = (room: RoomSnapshot, userId: string): Member[] =>
  room.members.filter((member) => member.userId !== userId);

const withMember = (room: RoomSnapshot, userId: string, to: (member: Member) => Member): RoomSnapshot => ({
  ...room,
  members: room.members.map((member) => (member.userId === userId ? to(member) : member)),
});
