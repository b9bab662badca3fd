/** What Redis holds of a shard, and what it must hold when the rules say how things stand: both in the same form. */
import type { createClient } from 'redis';
import type { EngineSettings } from '../../src/engine/engine.ts';
import { createKeys } from '../../src/engine/redis/keys.ts';
import { leaped, leapInto, SEQ_LEAP } from '../../src/room/epoch.ts';
import { codeAt, indexOf } from '../../src/room/pool.ts';
import { deadline, type Room } from '../../src/room/room.ts';
import type { Shard } from '../../src/room/shard.ts';
import { SHARD } from '../room/fixtures.ts';

export type Admin = ReturnType<typeof createClient>;

export async function readStoredState(admin: Admin, prefix: string, { pool }: EngineSettings): Promise<unknown> {
  const keys = createKeys(prefix).shard(SHARD);
  const codes = Array.from({ length: pool.perShard }, (_, index) => codeAt(pool, SHARD, index));
  const scores = async (key: string) => {
    const entries = await admin.zRangeWithScores(key, 0, -1);
    return Object.fromEntries(entries.map(({ value, score }) => [value, score]));
  };
  const [epoch, due, cooling, leases, taken, rooms, members] = await Promise.all([
    admin.hGet(keys.meta, 'epoch'),
    scores(keys.due),
    scores(keys.cooling),
    scores(keys.leases),
    Promise.all(codes.map((_, index) => admin.getBit(keys.taken, index))),
    Promise.all(codes.map((code) => admin.hGetAll(keys.room(code)))),
    Promise.all(codes.map((code) => admin.hGetAll(keys.members(code)))),
  ]);
  return {
    due,
    cooling,
    leases,
    taken,
    rooms: rooms.map((room) => inEpoch({ ...room }, epoch)),
    members: members.map((seats) =>
      Object.fromEntries(Object.entries(seats).map(([userId, text]) => [userId, JSON.parse(text)])),
    ),
  };
}

/** A room is brought into a new epoch when it is next loaded. */
function inEpoch(room: Record<string, string>, epoch: string | null): Record<string, string> {
  const { rev, epoch: of, nextSeq: seq } = room;
  if (rev === undefined || epoch === null || of === epoch) return room;
  const after = String(leaped(Number(rev), Number(of), Number(epoch)));
  return { ...room, rev: after, leapedTo: after, epoch, nextSeq: String(Number(seq) + SEQ_LEAP) };
}

export function expectedState(shard: Shard, { pool, policy }: EngineSettings): unknown {
  const rooms = [...shard.rooms.values()].map((room) => leapInto(room, shard.meta.epoch.number));
  const codes = Array.from({ length: pool.perShard }, (_, index) => codeAt(pool, SHARD, index));
  const bits = codes.map(() => 0);
  for (const code of [...shard.rooms.keys(), ...shard.cooling.keys()]) bits[indexOf(pool, code)] = 1;
  return {
    due: Object.fromEntries(rooms.map((room) => [room.code, deadline(room, policy).at])),
    cooling: Object.fromEntries(shard.cooling),
    leases: Object.fromEntries(
      rooms.flatMap(({ code, seats }) => seats.map(({ userId, leaseUntil }) => [`${code} ${userId}`, leaseUntil])),
    ),
    taken: bits,
    rooms: codes.map((code) => roomHash(rooms.find((room) => room.code === code))),
    members: codes.map((code) =>
      Object.fromEntries(
        (shard.rooms.get(code)?.seats ?? []).map(({ name, ...seat }) => [
          seat.userId,
          { ...seat, ...(name !== null && { name }) },
        ]),
      ),
    ),
  };
}

/** Every field is text; what is null or empty is not there. */
function roomHash(room: Room | undefined): Record<string, string> {
  if (room === undefined) return {};
  const { code: _code, seats: _seats, locked, banned, ...fields } = room;
  const values = { ...fields, locked: locked ? '1' : '0', banned: banned.length === 0 ? null : banned.join(' ') };
  return Object.fromEntries(
    Object.entries(values).flatMap(([field, value]) =>
      value === null || value === undefined ? [] : [[field, String(value)]],
    ),
  );
}
