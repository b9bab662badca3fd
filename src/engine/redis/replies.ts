/** The parts that replies of the scripts are made of, checked and brought into the forms of the rules. */
import { z } from 'zod';
import { CLOSE_REASONS, LEAVE_REASONS } from '../../protocol/messages.ts';
import { duration, revision, roomCode, roomRef, sessionNumber, userId } from '../../protocol/snapshot.ts';
import type { ListedRoom, RoomEvent } from '../../room/outcomes.ts';
import { toInfo, toMember, toSnapshot } from '../../room/room.ts';
import { idList, nodeId, orNull, storedRoom, storedSeat } from './fields.ts';

export const ok = z.literal(true);

export const refused = <const Reason extends string>(...reasons: readonly [Reason, ...Reason[]]) =>
  z.object({ ok: z.literal(false), reason: z.enum(reasons) });
export const seatRefused = refused('CODE_EXPIRED', 'NOT_IN_ROOM', 'SESSION_EXPIRED');

export const roomKey = z.object({ code: roomCode, ref: roomRef });
export const roomRevision = roomKey.extend({ rev: revision });

const head = roomRevision.shape;
const aboutSeat = { ...head, seat: storedSeat, hostId: orNull(userId) };
const rawEvent = z.discriminatedUnion('name', [
  z.object({ name: z.enum(['member:joined', 'member:back', 'member:updated']), ...aboutSeat }),
  z.object({ name: z.literal('member:left'), ...head, userId, reason: z.enum(LEAVE_REASONS) }),
  z.object({ name: z.literal('member:away'), ...head, userId }),
  z.object({ name: z.literal('host:changed'), ...head, hostId: orNull(userId) }),
  z.object({ name: z.literal('room:updated'), ...head, room: storedRoom }),
  z.object({ name: z.literal('room:closed'), ...head, reason: z.enum(CLOSE_REASONS), leaving: idList }),
]);

export const events = z.array(
  rawEvent.transform((raw): RoomEvent => {
    const { code, ref, rev } = raw;
    switch (raw.name) {
      case 'member:joined':
      case 'member:back':
      case 'member:updated':
        return { name: raw.name, body: { code, ref, rev, member: toMember(raw.seat, raw.hostId) } };
      case 'room:updated':
        return { name: raw.name, body: { code, ref, rev, room: toInfo({ ...raw.room, seats: [] }) } };
      case 'room:closed': {
        const { name, leaving, ...body } = raw;
        return { name, body, leaving };
      }
      default: {
        const { name, ...body } = raw;
        // The schema has paired the name with its body; the compiler does not follow that through the spread.
        return { name, body } as RoomEvent;
      }
    }
  }),
);

/** A session that has lost its seat: in the replies of scripts, and in the messages between nodes. */
export const evictedSession = roomKey.extend({
  userId,
  session: sessionNumber,
  nodeId,
  reason: z.enum([...LEAVE_REASONS, ...CLOSE_REASONS]),
});
export const evicted = z.array(evictedSession);

/** The room and its seats, and no events: the reply to a read. */
export const snapshot = z
  .object({ ok, room: storedRoom, seats: z.array(storedSeat) })
  .transform(({ ok, room, seats }) => ({ ok, room: snapshotOf(room, seats) }));

/** A `SnapshotOutcome`. */
export const snapshotReply = z
  .object({ ok, room: storedRoom, seats: z.array(storedSeat), events })
  .transform(({ ok, room, seats, events }) => ({ ok, room: snapshotOf(room, seats), events }));

/** The reply to a restore: a `SnapshotOutcome` with the epoch that the room is in now. */
export const restoredReply = z
  .object({ ok, room: storedRoom, seats: z.array(storedSeat), events })
  .transform(({ ok, room, seats, events }) => ({ ok, room: snapshotOf(room, seats), events, epoch: room.epoch }));

/** A `RevisionOutcome`. */
export const revisionReply = z.object({ ok, rev: revision, events, evicted });

export const listedRoom = z
  .object({ room: storedRoom, memberCount: z.int() })
  .transform(({ room, memberCount }): ListedRoom => ({ ...toInfo({ ...room, seats: [] }), memberCount }));

export const poolStats = z.object({ occupied: z.int(), cooling: z.int(), nextFreeInMs: duration.nullable() });

type StoredRoom = z.infer<typeof storedRoom>;
type StoredSeat = z.infer<typeof storedSeat>;

/** The scripts give the seats in no order. */
function snapshotOf(room: StoredRoom, seats: readonly StoredSeat[]) {
  return toSnapshot({ ...room, seats: seats.toSorted((a, b) => a.seq - b.seq) });
}
