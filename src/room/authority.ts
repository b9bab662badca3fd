/** Who may change what: a session its own seat, the host its room, the server's owner any room. */
import type { OwnerKey, SeatKey } from './commands.ts';
import type { Refusal, SeatRefusal } from './outcomes.ts';
import type { Room, Seat } from './room.ts';
import { seatOf } from './seats.ts';
import type { Shard } from './shard.ts';

interface Governed {
  readonly ok: true;
  readonly room: Room;
}
interface Held extends Governed {
  readonly seat: Seat;
}

/** The seat that the key's session holds. */
export function locate(shard: Shard, key: SeatKey): Held | SeatRefusal {
  const held = locateSeat(shard, key);
  return held.ok && held.seat.session !== key.session ? { ok: false, reason: 'SESSION_EXPIRED' } : held;
}

/** The seat that the key names, whichever session holds it. */
export function locateSeat(shard: Shard, key: SeatKey): Held | SeatRefusal {
  const room = shard.rooms.get(key.code);
  if (room?.ref !== key.ref) return { ok: false, reason: 'CODE_EXPIRED' };
  const seat = seatOf(room, key.userId);
  return seat === undefined ? { ok: false, reason: 'NOT_IN_ROOM' } : { ok: true, room, seat };
}

/** The room as a whole: for its host, from its seat, and for the owner. */
export function govern(shard: Shard, key: SeatKey | OwnerKey): Governed | SeatRefusal | Refusal<'FORBIDDEN'> {
  if (!('owner' in key)) {
    const held = locate(shard, key);
    return held.ok && held.room.hostId !== key.userId ? { ok: false, reason: 'FORBIDDEN' } : held;
  }
  const room = shard.rooms.get(key.code);
  return room?.ref === key.ref ? { ok: true, room } : { ok: false, reason: 'CODE_EXPIRED' };
}
