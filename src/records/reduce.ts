/**
 * Pure reducer: room events to call records, without database or clock. Events of one room arrive in the order of their
 * revisions. A revision that was recorded before is a repetition and changes nothing; a skipped revision means that events
 * were lost, and the record is marked incomplete. So does a timestamp before an earlier one: the store's clock was set back,
 * and an instant is never recorded before one that precedes it. A revision that was recorded before but carries a later timestamp means
 * that the room's store was set back (a dump was restored): its new events are true, and some recorded ones no longer are.
 */
import type { RoomFeedEvent } from '../protocol/feed.ts';
import type { CallRow, ParticipantRow } from './rows.ts';

/** Reason of an end without an event. */
export const UNKNOWN = 'unknown';

/** The rows that a batch of events may change: loaded before the reducer runs, up to date after it. */
export interface LoadedRecords {
  /** By ref. */
  readonly calls: Map<string, CallRow>;
  /** Participants that have not left, by {@link seatKey}. */
  readonly seats: Map<string, ParticipantRow>;
  /** {@link seatKey} of every user of the batch that has ever had a seat. */
  readonly everSeated: Set<string>;
  /** Participants, left or not, whose sequence number an event of the batch carries, by {@link seqKey}. */
  readonly bySeq: Map<string, ParticipantRow>;
  /** By ref: the highest sequence number of a participant. */
  readonly lastSeq: Map<string, number>;
}

/** Rows to write. */
export interface Changes {
  readonly calls: ReadonlyMap<string, CallRow>;
  /** By ref and seq. */
  readonly participants: ReadonlyMap<string, ParticipantRow>;
  /** Ended calls with seats that are still taken, because the leave events were lost. Ended before participants are written. */
  readonly abandoned: readonly CallRow[];
  /** Calls whose creation instant was corrected. Copied to their participants after those are written. */
  readonly recreated: readonly CallRow[];
}

export const seatKey = (ref: string, userId: string): string => `${ref} ${userId}`;
export const seqKey = (ref: string, seq: number): string => `${ref} ${seq}`;

/** Where the events come from. */
export interface Origin {
  readonly feed: string;
  /** Lifetime of a room whose own was not recorded. */
  readonly maxAgeMs: number;
}

/** @param records is updated in place. */
export function applyEvents(records: LoadedRecords, events: readonly RoomFeedEvent[], origin: Origin): Changes {
  const draft: Draft = { records, calls: new Map(), participants: new Map(), abandoned: [], recreated: [] };
  for (const event of events) {
    const before = records.calls.get(event.ref);
    if (before !== undefined && isRepeated(event, before)) continue;
    const call = applyEvent(draft, nextRevision(before ?? newCall(event, origin), event, before?.rev), event);
    if (before !== undefined && before.createdAt !== call.createdAt) draft.recreated.push(call);
    if (event.type === 'room_destroyed' && call.members > 0) draft.abandoned.push(call);
    const after = event.type === 'room_destroyed' ? closeSeats(draft, call) : call;
    records.calls.set(event.ref, after);
    draft.calls.set(event.ref, after);
  }
  return draft;
}

/** Adds a participant to every index of the loaded records. */
export function index({ seats, bySeq, lastSeq }: LoadedRecords, participant: ParticipantRow): void {
  const { ref, seq, userId, leftAt } = participant;
  bySeq.set(seqKey(ref, seq), participant);
  lastSeq.set(ref, Math.max(seq, lastSeq.get(ref) ?? 0));
  if (leftAt === null) seats.set(seatKey(ref, userId), participant);
  // Only when it is the same seat: the user may have joined again under another sequence number.
  else if (seats.get(seatKey(ref, userId))?.seq === seq) seats.delete(seatKey(ref, userId));
}

/** The changes while they are being collected. */
interface Draft extends Changes {
  readonly records: LoadedRecords;
  readonly calls: Map<string, CallRow>;
  readonly participants: Map<string, ParticipantRow>;
  readonly abandoned: CallRow[];
  readonly recreated: CallRow[];
}

type Event<Type extends RoomFeedEvent['type']> = Extract<RoomFeedEvent, { type: Type }>;
type MemberEvent = Event<'user_joined' | 'user_back' | 'user_updated'>;

function put({ records, participants }: Draft, participant: ParticipantRow): void {
  participants.set(seqKey(participant.ref, participant.seq), participant);
  index(records, participant);
}

/** A store that was set back uses a revision a second time, for an event that is later than everything recorded. */
const isRepeated = ({ rev, timestamp }: RoomFeedEvent, before: CallRow): boolean =>
  rev <= before.rev && timestamp <= before.lastAt;

/** A call whose creation event was lost starts with the first event that arrives. */
function newCall({ code, ref, timestamp }: RoomFeedEvent, { feed, maxAgeMs }: Origin): CallRow {
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

/** Removes a recorded end: a call that was presumed ended and sends another event is still going on. */
function nextRevision(call: CallRow, { rev, timestamp }: RoomFeedEvent, before = -1): CallRow {
  const complete = call.complete && rev === before + 1 && timestamp >= call.lastAt;
  return { ...call, rev, lastAt: Math.max(call.lastAt, timestamp), complete, endedAt: null, reason: null };
}

function applyEvent(draft: Draft, call: CallRow, event: RoomFeedEvent): CallRow {
  switch (event.type) {
    case 'room_created':
      return { ...withRoom(call, event), createdBy: event.userId };
    case 'room_updated':
      return withRoom(call, event);
    case 'user_joined':
      return join(draft, leave(draft, call, event.userId, UNKNOWN), event);
    case 'user_back':
    case 'user_updated':
      return change(draft, call, event);
    case 'user_left':
      return leave(draft, call, event.userId, event.reason);
    case 'host_changed':
      return { ...call, hostId: event.userId ?? call.hostId };
    case 'room_destroyed':
      return { ...call, endedAt: call.lastAt, reason: event.reason };
    case 'user_away':
      return call;
  }
}

function withRoom(call: CallRow, { room }: Event<'room_created' | 'room_updated'>): CallRow {
  const { type, name, createdAt, expiresAt, hostId } = room;
  const lastAt = Math.max(call.lastAt, createdAt);
  return { ...call, type, name, createdAt, expiresAt, hostId: hostId ?? call.hostId, lastAt };
}

function join(draft: Draft, call: CallRow, event: MemberEvent): CallRow {
  const { ref, userId, member } = event;
  const { name, joinedAt, mediaType = null } = member;
  const seq = seqOf(draft.records, event);
  put(draft, { ref, seq, userId, name, joinedAt, leftAt: null, reason: null, mediaType, calledAt: call.createdAt });
  const { everSeated } = draft.records;
  const newUsers = everSeated.has(seatKey(ref, userId)) ? 0 : 1;
  everSeated.add(seatKey(ref, userId));
  const members = call.members + 1;
  return {
    ...withHost(call, event),
    lastAt: Math.max(call.lastAt, joinedAt),
    members,
    peakMembers: Math.max(call.peakMembers, members),
    totalMembers: call.totalMembers + newUsers,
  };
}

/**
 * The member's own sequence number, unless another participant is recorded under it: a store that was set back gives some
 * numbers a second time. The later participant then gets the next free number of the record.
 */
function seqOf(
  { bySeq, lastSeq }: LoadedRecords,
  { type, ref, userId, member: { seq, joinedAt } }: MemberEvent,
): number {
  const last = lastSeq.get(ref) ?? 0;
  if (seq > last) return seq;
  const holder = bySeq.get(seqKey(ref, seq));
  const isOwn = holder === undefined || (holder.userId === userId && holder.joinedAt === joinedAt);
  return type !== 'user_joined' && isOwn ? seq : last + 1;
}

/** An update of a user without a recorded seat is a join whose event was lost. */
function change(draft: Draft, call: CallRow, event: Event<'user_back' | 'user_updated'>): CallRow {
  const { ref, userId, member } = event;
  const seat = draft.records.seats.get(seatKey(ref, userId));
  if (seat === undefined) return join(draft, call, event);
  put(draft, { ...seat, name: member.name, mediaType: member.mediaType ?? null });
  return withHost(call, event);
}

/** Takes the host from any event of a member with that role, because the event that made them host may be lost. */
const withHost = (call: CallRow, { userId, member }: MemberEvent): CallRow =>
  member.role === 'host' ? { ...call, hostId: userId } : call;

/** At the instant of the event, or the latest of the call: `lastAt` is never before a recorded join. */
function leave(draft: Draft, call: CallRow, userId: string, reason: string): CallRow {
  const seat = draft.records.seats.get(seatKey(call.ref, userId));
  if (seat === undefined) return call;
  put(draft, { ...seat, leftAt: call.lastAt, reason });
  return { ...call, members: call.members - 1 };
}

/** Ends the seats that are still taken when a room ends. */
function closeSeats(draft: Draft, call: CallRow): CallRow {
  const { ref, members, endedAt, reason } = call;
  const seats = members === 0 ? [] : [...draft.records.seats.values()].filter((seat) => seat.ref === ref);
  for (const seat of seats) put(draft, { ...seat, leftAt: endedAt, reason });
  return { ...call, members: 0 };
}
