/**
 * What events make of the records: no database, no clock. Every room's events come in the order of their revisions; one
 * that was recorded before changes nothing, and a revision that is passed over says that some were lost. One that is told
 * of a later time than before says that the store was set back, as by the restoring of a dump: what is told now is true,
 * and some of what was recorded has been forgotten.
 */
import type { RoomFeedEvent } from '../protocol/feed.ts';
import type { CallRow, SessionRow } from './rows.ts';

/** Why a seat or a call ended, when nobody has seen it end. */
export const UNKNOWN = 'unknown';

/** The records that a batch of events is about, as they were; and then, as they are. */
export interface Batch {
  /** By ref. */
  readonly calls: Map<string, CallRow>;
  /** Seats that are taken, by {@link seatName}. */
  readonly seats: Map<string, SessionRow>;
  /** Who has ever had one: their {@link seatName}. */
  readonly known: Set<string>;
  /** Sessions, of whoever and over or not, that have a number which an event gives: by {@link numberName}. */
  readonly numbers: Map<string, SessionRow>;
  /** By ref: the greatest number that a session has. */
  readonly last: Map<string, number>;
}

/** What is to be written. */
export interface Changes {
  readonly calls: ReadonlyMap<string, CallRow>;
  /** By ref and seq. */
  readonly sessions: ReadonlyMap<string, SessionRow>;
  /** Calls that have ended, of which seats may be taken still: their end was lost. Before the sessions are written. */
  readonly abandoned: readonly CallRow[];
  /** Calls whose creation is known better than before. After the sessions were written. */
  readonly moved: readonly CallRow[];
}

export const seatName = (ref: string, userId: string): string => `${ref} ${userId}`;
export const numberName = (ref: string, seq: number): string => `${ref} ${seq}`;

/**
 * @param batch is changed: it holds what there is after the events.
 * @param origin `maxAgeMs` says how long a room lasts at most of which nobody has told that.
 */
export function record(
  batch: Batch,
  events: readonly RoomFeedEvent[],
  origin: { readonly feed: string; readonly maxAgeMs: number },
): Changes {
  const calls = new Map<string, CallRow>();
  const sessions = new Map<string, SessionRow>();
  const [abandoned, moved]: [CallRow[], CallRow[]] = [[], []];
  const book: Book = {
    batch,
    keep: (session) => {
      sessions.set(numberName(session.ref, session.seq), session);
      note(batch, session);
    },
  };
  for (const event of events) {
    const before = batch.calls.get(event.ref);
    if (before !== undefined && isRepeated(event, before)) continue;
    const call = become(book, advance(before ?? begin(event, origin), event, before?.rev), event);
    if (before !== undefined && before.createdAt !== call.createdAt) moved.push(call);
    if (event.type === 'room_destroyed' && call.members > 0) abandoned.push(call);
    const settled = event.type === 'room_destroyed' ? settle(book, call) : call;
    batch.calls.set(event.ref, settled);
    calls.set(event.ref, settled);
  }
  return { calls, sessions, abandoned, moved };
}

interface Book {
  readonly batch: Batch;
  readonly keep: (session: SessionRow) => void;
}

/** Enters a session that there is. */
export function note({ seats, numbers, last }: Batch, session: SessionRow): void {
  const { ref, seq, userId, leftAt } = session;
  numbers.set(numberName(ref, seq), session);
  last.set(ref, Math.max(seq, last.get(ref) ?? 0));
  if (leftAt === null) seats.set(seatName(ref, userId), session);
  // Its user may sit under another number by now.
  else if (seats.get(seatName(ref, userId))?.seq === seq) seats.delete(seatName(ref, userId));
}

/** A store that was set back uses a revision again for what happens then, which is after all that was recorded. */
const isRepeated = ({ rev, timestamp }: RoomFeedEvent, before: CallRow): boolean =>
  rev <= before.rev && timestamp <= before.lastAt;

type Event<Type extends RoomFeedEvent['type']> = Extract<RoomFeedEvent, { type: Type }>;

/** A call whose creation was lost begins with what is heard of it first. */
function begin(
  { code, ref, timestamp }: RoomFeedEvent,
  { feed, maxAgeMs }: { readonly feed: string; readonly maxAgeMs: number },
): CallRow {
  return {
    ref,
    code,
    type: UNKNOWN,
    name: null,
    createdAt: timestamp,
    expiresAt: timestamp + maxAgeMs,
    endedAt: null,
    reason: null,
    hostId: null,
    createdBy: null,
    members: 0,
    peakMembers: 0,
    totalMembers: 0,
    complete: true,
    rev: -1,
    lastAt: timestamp,
    feed,
  };
}

/** A call that was taken for ended and is heard of again lasts still. */
function advance(call: CallRow, { rev, timestamp }: RoomFeedEvent, before = -1): CallRow {
  const complete = call.complete && rev === before + 1;
  return { ...call, rev, lastAt: Math.max(call.lastAt, timestamp), complete, endedAt: null, reason: null };
}

function become(book: Book, call: CallRow, event: RoomFeedEvent): CallRow {
  switch (event.type) {
    case 'room_created':
      return { ...described(call, event), createdBy: event.userId };
    case 'room_updated':
      return described(call, event);
    case 'user_joined':
      return join(book, leave(book, call, event.userId, event.timestamp, UNKNOWN), event);
    case 'user_back':
    case 'user_updated':
      return change(book, call, event);
    case 'user_left':
      return leave(book, call, event.userId, event.timestamp, event.reason);
    case 'host_changed':
      return { ...call, hostId: event.userId ?? call.hostId };
    case 'room_destroyed':
      return { ...call, endedAt: event.timestamp, reason: event.reason };
    case 'user_away':
      return call;
  }
}

function described(call: CallRow, { room }: Event<'room_created' | 'room_updated'>): CallRow {
  const { type, name, createdAt, expiresAt, hostId } = room;
  return { ...call, type, name, createdAt, expiresAt, hostId: hostId ?? call.hostId };
}

function join(book: Book, call: CallRow, event: Event<'user_joined' | 'user_back' | 'user_updated'>): CallRow {
  const { ref, userId, member } = event;
  const { name, joinedAt, mediaType = null } = member;
  const seq = numberOf(book.batch, event);
  book.keep({ ref, seq, userId, name, joinedAt, leftAt: null, reason: null, mediaType, calledAt: call.createdAt });
  const { known } = book.batch;
  const newcomers = known.has(seatName(ref, userId)) ? 0 : 1;
  known.add(seatName(ref, userId));
  const members = call.members + 1;
  return {
    ...hosted(call, event),
    members,
    peakMembers: Math.max(call.peakMembers, members),
    totalMembers: call.totalMembers + newcomers,
  };
}

/**
 * The number that the member has, unless it is another session's: a store that was set back counts some anew. Who has sat
 * down since then comes behind all others.
 */
function numberOf(
  { numbers, last }: Batch,
  { type, ref, userId, member: { seq, joinedAt } }: Event<'user_joined' | 'user_back' | 'user_updated'>,
): number {
  const most = last.get(ref) ?? 0;
  if (seq > most) return seq;
  const holder = numbers.get(numberName(ref, seq));
  const isTheirs = holder === undefined || (holder.userId === userId && holder.joinedAt === joinedAt);
  return type !== 'user_joined' && isTheirs ? seq : most + 1;
}

/** Whoever changes has a seat, even when its taking was lost. */
function change(book: Book, call: CallRow, event: Event<'user_back' | 'user_updated'>): CallRow {
  const { ref, userId, member } = event;
  const seat = book.batch.seats.get(seatName(ref, userId));
  if (seat === undefined) return join(book, call, event);
  book.keep({ ...seat, name: member.name, mediaType: member.mediaType ?? null });
  return hosted(call, event);
}

/** Who is heard of as the host is it, also where the event that made them so was lost. */
const hosted = (call: CallRow, { userId, member }: Event<'user_joined' | 'user_back' | 'user_updated'>): CallRow =>
  member.role === 'host' ? { ...call, hostId: userId } : call;

function leave({ batch, keep }: Book, call: CallRow, userId: string, leftAt: number, reason: string): CallRow {
  const seat = batch.seats.get(seatName(call.ref, userId));
  if (seat === undefined) return call;
  keep({ ...seat, leftAt, reason });
  return { ...call, members: call.members - 1 };
}

/** Nobody sits in a room that has ended, whatever was told of them. */
function settle({ batch, keep }: Book, call: CallRow): CallRow {
  const { ref, members, endedAt, reason } = call;
  const seats = members === 0 ? [] : [...batch.seats.values()].filter((seat) => seat.ref === ref);
  for (const seat of seats) keep({ ...seat, leftAt: endedAt, reason });
  return { ...call, members: 0 };
}
