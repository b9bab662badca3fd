/** Random restores: copies of rooms as they were at some instant, with parts of them changed or missing. */
import fc from 'fast-check';
import type { SessionNumber } from '../../src/protocol/ids.ts';
import type { Restore } from '../../src/room/commands.ts';
import { codeAt, type Pool } from '../../src/room/pool.ts';
import { type Room, type Seat, toCopy } from '../../src/room/room.ts';
import type { Shard } from '../../src/room/shard.ts';
import { SHARD } from '../room/fixtures.ts';

export interface RandomCopy {
  readonly which: number;
  /** Added to its revision. */
  readonly ahead: number;
  /** Whether each of the seats is on the node, and how much later its session is. */
  readonly seats: readonly { readonly held: boolean; readonly off: number; readonly isAway: boolean }[];
  readonly candidates: readonly number[];
  readonly searchFrom: number;
  readonly name: string | null;
  readonly bans: boolean;
}

export const randomCopy: fc.Arbitrary<RandomCopy> = fc.record({
  which: fc.nat(40),
  ahead: fc.constantFrom(0, 0, 1, 3, -1, 2_000_000),
  seats: fc.array(
    fc.record({
      held: fc.boolean(),
      off: fc.constantFrom(0, 0, 0, 1, -1),
      isAway: fc.constantFrom(false, false, false, true),
    }),
    { minLength: 4, maxLength: 4 },
  ),
  candidates: fc.array(fc.nat(2), { maxLength: 2 }),
  searchFrom: fc.nat(2),
  name: fc.constantFrom('restored', null),
  bans: fc.constantFrom(false, false, true),
});

/** Without any room to restore: of a room that never was. */
export function restoreCommand(
  copy: RandomCopy,
  {
    shard,
    history,
    settings: { pool },
  }: { shard: Shard; history: { rooms: readonly Room[] }; settings: { pool: Pool } },
): Restore {
  const room = history.rooms[history.rooms.length - 1 - (copy.which % Math.max(1, history.rooms.length))];
  if (room === undefined) throw new Error('no room yet');
  const { code, ref, ...fields } = toCopy(room);
  const banned = copy.bans ? room.seats.slice(-1).map(({ userId }) => userId) : [];
  return {
    kind: 'restore',
    code,
    ref,
    // In its own epoch it would always be refused.
    sinceEpoch: room.epoch === shard.meta.epoch.number ? room.epoch - 1 : room.epoch,
    room: {
      ...fields,
      rev: Math.max(0, room.rev + copy.ahead),
      name: copy.name,
      banned: [...new Set([...room.banned, ...banned])],
    },
    seats: room.seats.flatMap((seat, index) => heldSeat(seat, copy.seats[index])),
    candidates: copy.candidates.map((place) => codeAt(pool, SHARD, place % pool.perShard)),
    searchFrom: copy.searchFrom % pool.perShard,
  };
}

function heldSeat(seat: Seat, held: RandomCopy['seats'][number] | undefined): Restore['seats'] {
  if (held?.held !== true) return [];
  const { leaseUntil: _, ...kept } = seat;
  const session = Math.max(1, seat.session + held.off) as SessionNumber; // any number of at least 1
  return [{ ...kept, session, state: held.isAway ? 'away' : 'present' }];
}
