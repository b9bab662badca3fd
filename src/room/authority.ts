/** Authorization: a session may change its own seat, the host its room, the server's owner any room. */
import type { OwnerKey, Read, SeatKey } from './commands.ts';
import type { Refusal, SeatRefusal } from './outcomes.ts';
import type { Room, Seat } from './room.ts';
import { seatOf } from './seats.ts';
import type { Shard } from './shard.ts';

interface Authorized {
  readonly ok: true;
  readonly room: Room;
}
interface FoundSeat extends Authorized {
  readonly seat: Seat;
}

/** The room that has a code now. @param ref if given, a room with another ref is a refusal. */
export function findRoom(
  shard: Shard,
  { code, ref }: Pick<Read, 'code' | 'ref'>,
): Authorized | Refusal<'ROOM_NOT_FOUND' | 'CODE_EXPIRED'> {
  const room = shard.rooms.get(code);
  if (ref !== undefined && room?.ref !== ref) return { ok: false, reason: 'CODE_EXPIRED' };
  return room === undefined ? { ok: false, reason: 'ROOM_NOT_FOUND' } : { ok: true, room };
}

/** The seat that the key's session has. */
export function findSeat(shard: Shard, key: SeatKey): FoundSeat | SeatRefusal {
  const found = findSeatOfAnySession(shard, key);
  return found.ok && found.seat.session !== key.session ? { ok: false, reason: 'SESSION_EXPIRED' } : found;
}

/** The seat of the key's user, whatever its session. */
export function findSeatOfAnySession(
  shard: Shard,
  key: Omit<SeatKey, 'session'>,
): FoundSeat | Refusal<'CODE_EXPIRED' | 'NOT_IN_ROOM'> {
  const room = shard.rooms.get(key.code);
  if (room?.ref !== key.ref) return { ok: false, reason: 'CODE_EXPIRED' };
  const seat = seatOf(room, key.userId);
  return seat === undefined ? { ok: false, reason: 'NOT_IN_ROOM' } : { ok: true, room, seat };
}

/** The room as a whole: the host may change it, and the owner. */
export function authorize(shard: Shard, key: SeatKey | OwnerKey): Authorized | SeatRefusal | Refusal<'FORBIDDEN'> {
  if (!('owner' in key)) {
    const found = findSeat(shard, key);
    return found.ok && found.room.hostId !== key.userId ? { ok: false, reason: 'FORBIDDEN' } : found;
  }
  const room = shard.rooms.get(key.code);
  return room?.ref === key.ref ? { ok: true, room } : { ok: false, reason: 'CODE_EXPIRED' };
}
