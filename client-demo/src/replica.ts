/**
 * The room as this page knows it: a snapshot plus the events after it, in the order of their revisions. It holds the
 * truth, or knows that it does not and asks. Events may overtake the snapshot, so they are held until it is there.
 */
import type { Member, Push, RoomRef, RoomSnapshot } from '../../src/protocol/index.ts';

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
  // The room ends with it: there is nothing left to change.
  'room:closed': (room) => room,
} satisfies { [Name in RoomEventName]: (room: RoomSnapshot, body: Push<Name>) => RoomSnapshot };

export const ROOM_EVENTS = [
  'member:joined',
  'member:left',
  'member:away',
  'member:back',
  'member:updated',
  'host:changed',
  'room:updated',
  'room:closed',
] as const;
export type RoomEventName = (typeof ROOM_EVENTS)[number];
export type RoomEvent = { [Name in RoomEventName]: { readonly name: Name; readonly body: Push<Name> } }[RoomEventName];

export interface ReplicaEvents {
  /** `event` is what has changed it; without, a snapshot has. */
  changed: (room: RoomSnapshot, before: RoomSnapshot | null, event?: RoomEvent) => void;
  /** Something was missed: fetch a snapshot and adopt it. */
  behind: () => void;
}

/** More than can overtake one reply; it bounds what a server gone wild can make this page hold. */
const MOST_HELD = 500;

export class Replica {
  readonly #events: ReplicaEvents;
  #room: RoomSnapshot | null = null;
  #held: RoomEvent[] = [];

  constructor(events: ReplicaEvents) {
    this.#events = events;
  }

  get room(): RoomSnapshot | null {
    return this.#room;
  }

  adopt(snapshot: RoomSnapshot): void {
    // A snapshot asked for long ago may arrive after newer events.
    if (this.#room?.ref === snapshot.ref && snapshot.rev < this.#room.rev) return;
    const before = this.#room;
    this.#room = snapshot;
    this.#events.changed(snapshot, before);
    this.#applyHeld();
  }

  take(event: RoomEvent): void {
    this.#held.push(event);
    if (this.#held.length > MOST_HELD) this.#held.shift();
    this.#applyHeld();
    if (this.#room !== null && this.#held.length > 0) this.#events.behind();
  }

  /** The revision the room is said to have reached. */
  hint(rev: number, ref?: RoomRef): void {
    const room = this.#room;
    if (room !== null && (ref ?? room.ref) === room.ref && rev > room.rev) this.#events.behind();
  }

  /** Applies whatever is next, drops what is past or of another room, keeps what comes after a gap. */
  #applyHeld(): void {
    const due = this.#held.sort((a, b) => a.body.rev - b.body.rev);
    this.#held = [];
    for (const event of due) {
      const room = this.#room;
      if (room === null) this.#held.push(event);
      else if (event.body.ref !== room.ref || event.body.rev <= room.rev) continue;
      else if (event.body.rev > room.rev + 1) this.#held.push(event);
      else this.#apply(room, event);
    }
  }

  #apply(room: RoomSnapshot, event: RoomEvent): void {
    // The compiler cannot follow one name through the union; the table above is checked name by name.
    const change = CHANGES[event.name] as (room: RoomSnapshot, body: RoomEvent['body']) => RoomSnapshot;
    this.#room = { ...change(room, event.body), rev: event.body.rev };
    this.#events.changed(this.#room, room, event);
  }
}

const without = (room: RoomSnapshot, userId: string): Member[] =>
  room.members.filter((member) => member.userId !== userId);

const withMember = (room: RoomSnapshot, userId: string, to: (member: Member) => Member): RoomSnapshot => ({
  ...room,
  members: room.members.map((member) => (member.userId === userId ? to(member) : member)),
});
