/** Restoring: what nodes give back to a store that may have lost it, and what it refuses. */
import { expect } from 'vitest';
import type { UserId } from '../../../src/protocol/ids.ts';
import type { RoomSnapshot } from '../../../src/protocol/snapshot.ts';
import type { Restore } from '../../../src/room/commands.ts';
import { LEAP, SEQ_LEAP } from '../../../src/room/epoch.ts';
import type { RoomKey } from '../../../src/room/room.ts';
import { eventsOf } from '../../room/events-in-words.ts';
import { node, POLICY, refOf, SECOND, SHARD, seatKey, session } from '../../room/fixtures.ts';
import { type EngineHarness, NODE, nthCode } from '../harness.ts';
import { example } from './example.ts';

const { leaseMs, graceMs, cooldownMs } = POLICY;

/** The members of a room, the host with a star, in the order of joining. */
const seated = ({ hostId, members }: RoomSnapshot): string[] =>
  members.map(({ userId }) => (userId === hostId ? `${userId}*` : userId));

interface Part {
  /** Whose connections the node holds. */
  readonly of?: readonly string[];
  /** What its copy says otherwise. */
  readonly copy?: Partial<Restore['room']>;
  readonly seat?: Partial<Restore['seats'][number]>;
  readonly sinceEpoch?: number;
}

/** What a node restores of a room as it last knew it. */
export function restore(harness: EngineHarness, room: RoomSnapshot, part: Part = {}) {
  const { code, ref, members, ...fields } = room;
  const { of = members.map(({ userId }) => userId), copy = {}, seat = {}, sinceEpoch = 0 } = part;
  const held = members.filter(({ userId }) => of.includes(userId));
  return harness.apply({
    kind: 'restore',
    code,
    ref,
    sinceEpoch,
    room: {
      rev: fields.rev,
      name: fields.name,
      type: fields.type,
      maxUsers: fields.maxUsers,
      access: fields.access,
      locked: fields.locked,
      hostId: fields.hostId,
      createdBy: fields.hostId,
      createdAt: fields.createdAt,
      expiresAt: fields.expiresAt,
      nextSeq: members.length + 1,
      banned: [],
      ...copy,
    },
    seats: held.map(({ userId, name, seq, joinedAt, state }) => ({
      userId,
      name,
      seq,
      joinedAt,
      state,
      session: session(1),
      nodeId: NODE,
      ...seat,
    })),
    candidates: [],
    searchFrom: 0,
  });
}

/** A room of which the store knows nothing. */
async function lostRoom(harness: EngineHarness, members: readonly string[], key: Partial<RoomKey> = {}) {
  const real = await harness.room(members, { candidates: [nthCode(2)] });
  await harness.close(real, members[0] ?? '');
  return { ...real, code: nthCode(0), ref: refOf(50), ...key };
}

const roomOf = (outcome: Awaited<ReturnType<typeof restore>>): RoomSnapshot => {
  if (!outcome.ok) throw new Error(outcome.reason);
  return outcome.room;
};

export const restoring = [
  example('a room that is gone is created again, with its revision beyond all known ones', async (harness) => {
    const lost = await lostRoom(harness, ['anna', 'bert']);
    const room = roomOf(await restore(harness, lost, { copy: { locked: true, name: 'kept' } }));
    expect(room).toMatchObject({ code: lost.code, ref: lost.ref, locked: true, name: 'kept', hostId: 'anna' });
    expect(seated(room)).toEqual(['anna*', 'bert']);
    expect(room.rev).toBeGreaterThan(lost.rev + LEAP);
    expect(await harness.snapshot(lost)).toEqual(room);
    expect(eventsOf(await harness.tick([seatKey(room, 'anna'), seatKey(room, 'bert')]))).toEqual([]);
  }),
  example('the parts of two nodes add up to one room, in any order', async (harness) => {
    const lost = await lostRoom(harness, ['anna', 'bert', 'cora']);
    const first = roomOf(await restore(harness, lost, { of: ['cora'] }));
    const second = roomOf(await restore(harness, lost, { of: ['anna', 'bert'] }));
    expect(seated(second)).toEqual(['anna*', 'bert', 'cora']);
    expect(second.rev).toBe(first.rev + 1);
    expect(roomOf(await restore(harness, lost, { of: ['bert'] })).rev).toBe(second.rev);
  }),
  example('of several copies the greatest revision has the settings, and every ban counts', async (harness) => {
    const lost = await lostRoom(harness, ['anna', 'bert', 'cora']);
    const older = { rev: 7, name: 'older', banned: ['dora' as UserId] };
    await restore(harness, lost, { of: ['bert'], copy: older });
    const newer = { rev: 9, name: 'newer', banned: ['cora' as UserId], hostId: 'bert' as UserId };
    await restore(harness, lost, { of: ['anna'], copy: newer });
    const room = roomOf(await restore(harness, lost, { of: ['cora'], copy: older }));
    expect(room.name).toBe('newer');
    expect(seated(room)).toEqual(['anna', 'bert*']);
    expect(room.rev).toBeGreaterThan(9 + LEAP);
    expect(await harness.join(room, 'dora')).toEqual({ ok: false, reason: 'BANNED' });
    expect(await harness.join(room, 'cora')).toEqual({ ok: false, reason: 'BANNED' });
  }),
  example('settings that were changed since the loss are not replaced by a later copy', async (harness) => {
    const lost = await lostRoom(harness, ['anna', 'bert']);
    await restore(harness, lost, { of: ['anna'] });
    await harness.updateRoom(lost, 'anna', { name: 'new' });
    expect(roomOf(await restore(harness, lost, { of: ['bert'], copy: { rev: 99 } })).name).toBe('new');
  }),
  example('a later session keeps its seat, and a seat that was taken anew is not removed', async (harness) => {
    const lost = await lostRoom(harness, ['anna', 'bert']);
    await restore(harness, lost, { of: ['anna'] });
    await harness.join(lost, 'cora');
    await harness.join(lost, 'bert', { session: 5, node: 'node-b' });
    const room = roomOf(await restore(harness, lost));
    expect(seated(room)).toEqual(['anna*', 'cora', 'bert']);
    expect(await harness.leave(room, 'bert', 1)).toEqual({ ok: false, reason: 'SESSION_EXPIRED' });
    const again = roomOf(await restore(harness, room, { of: ['cora'], seat: { session: session(9) } }));
    expect(seated(again)).toEqual(['anna*', 'cora', 'bert']);
    expect(await harness.leave(again, 'cora', 9)).toMatchObject({ ok: true });
  }),
  example('a member that joins before another one is restored does not get the place of that one', async (harness) => {
    const lost = await lostRoom(harness, ['anna', 'bert']);
    // The copy of this node does not know of the other member.
    await restore(harness, lost, { of: ['anna'], copy: { nextSeq: 2 } });
    await harness.join(lost, 'cora');
    const { members } = roomOf(await restore(harness, lost, { of: ['bert'] }));
    expect(members.map(({ userId, seq }) => [userId, seq])).toEqual([
      ['anna', 1],
      ['bert', 2],
      ['cora', 2 + SEQ_LEAP],
    ]);
  }),
  example('a member whose place another one has by now joins the order at its end', async (harness) => {
    const lost = await lostRoom(harness, ['anna', 'bert']);
    await restore(harness, lost, { of: ['anna'], seat: { seq: 2 } });
    const { members } = roomOf(await restore(harness, lost, { of: ['bert'] }));
    expect(members.map(({ userId, seq }) => [userId, seq])).toEqual([
      ['anna', 2],
      ['bert', 3 + SEQ_LEAP],
    ]);
  }),
  example('a room whose code another one has gets a new code, where all nodes find it', async (harness) => {
    const lost = await lostRoom(harness, ['anna', 'bert']);
    await harness.room(['dora'], { candidates: [lost.code], ref: refOf(60) });
    const first = roomOf(await restore(harness, lost, { of: ['anna'] }));
    expect(first).toMatchObject({ code: nthCode(1), ref: lost.ref });
    const second = roomOf(await restore(harness, lost, { of: ['bert'] }));
    expect(second.code).toBe(first.code);
    expect(seated(second)).toEqual(['anna*', 'bert']);
    expect(await harness.stats()).toMatchObject({ occupied: 2, cooling: 1 });
  }),
  example('a room for which there is no code is refused', async (harness) => {
    const lost = await lostRoom(harness, ['anna']);
    await harness.room(['dora'], { candidates: [lost.code], ref: refOf(60) });
    await harness.room(['emma'], { candidates: [nthCode(1)], ref: refOf(61) });
    expect(await restore(harness, lost)).toEqual({ ok: false, reason: 'POOL_EXHAUSTED' });
  }),
  example('a code that is said to cool is given back to the room that had it', async (harness) => {
    const lost = await lostRoom(harness, ['anna'], { code: nthCode(2) });
    expect(roomOf(await restore(harness, lost)).code).toBe(nthCode(2));
    expect(await harness.stats()).toMatchObject({ occupied: 1, cooling: 0 });
  }),
  example('what the node has seen in the same epoch is not restored: the store is right', async (harness) => {
    const lost = await lostRoom(harness, ['anna']);
    const { epoch } = await harness.tick();
    expect(await restore(harness, lost, { sinceEpoch: epoch })).toEqual({ ok: false, reason: 'CODE_EXPIRED' });
  }),
  example('a room that has ended since it was restored is not brought back by another node', async (harness) => {
    const lost = await lostRoom(harness, ['anna', 'bert']);
    await restore(harness, lost, { of: ['anna'] });
    await harness.close(lost, 'anna');
    expect(await restore(harness, lost, { of: ['bert'] })).toEqual({ ok: false, reason: 'CODE_EXPIRED' });
  }),
  example('a node that comes later than a lease, or with a room past its age, restores nothing', async (harness) => {
    const lost = await lostRoom(harness, ['anna']);
    const aged = { expiresAt: harness.clock.now() };
    expect(await restore(harness, lost, { copy: aged })).toEqual({ ok: false, reason: 'CODE_EXPIRED' });
    harness.clock.advance(leaseMs + 1);
    expect(await restore(harness, lost)).toEqual({ ok: false, reason: 'CODE_EXPIRED' });
  }),
  example('a host that no node restores is succeeded in the next tick', async (harness) => {
    const lost = await lostRoom(harness, ['anna', 'bert']);
    const { rev } = roomOf(await restore(harness, lost, { of: ['bert'] }));
    expect(eventsOf(await harness.tick())).toEqual([`${rev + 1} host:changed bert`]);
  }),
  example('restored seats have leases: a present one as long as any, an away one for the grace', async (harness) => {
    const lost = await lostRoom(harness, ['anna', 'bert']);
    await restore(harness, lost, { of: ['anna'], seat: { nodeId: node('node-b') } });
    await restore(harness, lost, { of: ['bert'], seat: { state: 'away' } });
    harness.clock.advance(graceMs);
    expect(eventsOf(await harness.tick())).toHaveLength(1);
    harness.clock.advance(leaseMs - graceMs);
    expect(eventsOf(await harness.tick()).length).toBeGreaterThan(0);
  }),
  example('codes that a node has seen released cool, if they are free', async (harness) => {
    const room = await harness.room(['anna'], { candidates: [nthCode(0)] });
    const codes = [
      [nthCode(0), 20 * SECOND],
      [nthCode(1), 20 * SECOND],
    ] as const;
    expect(await harness.apply({ kind: 'cool', shard: SHARD, codes })).toEqual({ ok: true });
    expect(await harness.stats()).toEqual({ ok: true, occupied: 1, cooling: 1, nextFreeInMs: 20 * SECOND });
    expect((await harness.snapshot(room)) as RoomSnapshot).toMatchObject({ code: room.code });
    await harness.close(room, 'anna');
    await harness.apply({ kind: 'cool', shard: SHARD, codes });
    harness.clock.advance(20 * SECOND);
    expect((await harness.tick()).poolStats).toEqual({
      occupied: 0,
      cooling: 1,
      nextFreeInMs: cooldownMs - 20 * SECOND,
    });
  }),
  example('a tick tells of rooms whose copies on the node are behind', async (harness) => {
    const room = await harness.room(['anna', 'bert']);
    await harness.kick(room, 'anna', 'bert', { ban: true });
    const held = [seatKey(room, 'anna')];
    const { infos } = await harness.tick(held, 100, SHARD, { rooms: [{ code: room.code, ref: room.ref, rev: 2 }] });
    expect(infos).toEqual([
      expect.objectContaining({ code: room.code, ref: room.ref, rev: 3, banned: ['bert'], nextSeq: 3, hostId: 'anna' }),
    ]);
    const rooms = [{ code: room.code, ref: room.ref, rev: 3 }];
    expect((await harness.tick(held, 100, SHARD, { rooms })).infos).toEqual([]);
  }),
  example('after a time without ticks nothing is reaped for the length of a lease', async (harness) => {
    const everyMs = 10 * SECOND;
    const tick = () => harness.tick([], 100, SHARD, { everyMs });
    await harness.room(['anna']);
    await tick();
    harness.clock.advance(leaseMs + 2 * everyMs);
    expect(eventsOf(await tick())).toEqual([]);
    for (let waited = everyMs; waited < leaseMs; waited += everyMs) {
      harness.clock.advance(everyMs);
      expect(eventsOf(await tick())).toEqual([]);
    }
    harness.clock.advance(everyMs);
    expect(eventsOf(await tick())).toEqual(['2 member:left anna lost', '3 host:changed nobody']);
  }),
];
