/** Which code a room gets, and when a code may be had again. */
import { expect } from 'vitest';
import { code, POLICY, refOf } from '../stage.ts';
import { example } from './example.ts';

const { cooldownMs, idempotencyMs } = POLICY;

export const codes = [
  example('the first free candidate is taken', async (stage) => {
    expect(await stage.room(['anna'], { candidates: [code(2), code(1)] })).toMatchObject({ code: code(2) });
    expect(await stage.room(['bert'], { candidates: [code(2), code(1), code(0)] })).toMatchObject({ code: code(1) });
  }),
  example('without a free candidate the search goes on from the given index', async (stage) => {
    await stage.room(['anna'], { candidates: [code(0)] });
    expect(await stage.room(['bert'], { candidates: [code(0)], from: 2 })).toMatchObject({ code: code(2) });
    expect(await stage.room(['cora'], { from: 0 })).toMatchObject({ code: code(1) });
  }),
  example('the search goes round the end once and finds the last free code', async (stage) => {
    await stage.room(['anna'], { candidates: [code(2)] });
    expect(await stage.room(['bert'], { from: 2 })).toMatchObject({ code: code(0) });
    expect(await stage.room(['cora'], { from: 2 })).toMatchObject({ code: code(1) });
  }),
  example(
    'the last free code of many is found from anywhere',
    async (stage) => {
      for (let index = 0; index < 37; index += 1) {
        if (index !== 21) await stage.room([`user-${index}`], { candidates: [code(index)] });
      }
      expect(await stage.room(['anna'], { from: 22 })).toMatchObject({ code: code(21) });
      expect(await stage.create('bert', { from: 21 })).toEqual({ ok: false, reason: 'FULL', nextFreeInMs: null });
    },
    { perShard: 37 },
  ),
  example(
    'the search finds codes that nothing has ever been written for',
    async (stage) => {
      expect(await stage.room(['anna'], { from: 20 })).toMatchObject({ code: code(20) });
      expect(await stage.room(['bert'], { from: 36 })).toMatchObject({ code: code(36) });
      expect(await stage.room(['cora'], { from: 36 })).toMatchObject({ code: code(0) });
    },
    { perShard: 37 },
  ),
  example('a shard that is full says when its next code has cooled', async (stage) => {
    const rooms = [await stage.room(['anna']), await stage.room(['bert']), await stage.room(['cora'])];
    expect(await stage.create('dora')).toEqual({ ok: false, reason: 'FULL', nextFreeInMs: null });
    for (const [index, room] of rooms.entries()) {
      await stage.close(room, ['anna', 'bert', 'cora'][index] ?? '');
      stage.clock.advance(1_000);
    }
    expect(await stage.create('dora')).toEqual({ ok: false, reason: 'FULL', nextFreeInMs: cooldownMs - 3_000 });
  }),
  example('a released code cools before it is handed out again', async (stage) => {
    const room = await stage.room(['anna'], { candidates: [code(1)] });
    await stage.close(room, 'anna');
    expect(await stage.stats()).toEqual({ ok: true, occupied: 0, cooling: 1, nextFreeInMs: cooldownMs });
    expect(await stage.room(['bert'], { candidates: [code(1), code(2)] })).toMatchObject({ code: code(2) });
    expect(await stage.room(['cora'], { from: 1 })).toMatchObject({ code: code(0) });
    stage.clock.advance(cooldownMs - 1);
    expect(await stage.create('dora', { candidates: [code(1)] })).toEqual({
      ok: false,
      reason: 'FULL',
      nextFreeInMs: 1,
    });
    stage.clock.advance(1);
    expect(await stage.room(['dora'], { candidates: [code(1)] })).toMatchObject({ code: code(1) });
    expect(await stage.stats()).toEqual({ ok: true, occupied: 3, cooling: 0, nextFreeInMs: null });
  }),
  example('when every code is taken, the one that has cooled longest is used', async (stage) => {
    const rooms = [await stage.room(['anna']), await stage.room(['bert']), await stage.room(['cora'])];
    await stage.close(rooms[2] ?? expect.unreachable(), 'cora');
    stage.clock.advance(1);
    await stage.close(rooms[0] ?? expect.unreachable(), 'anna');
    stage.clock.advance(cooldownMs);
    expect(await stage.stats()).toMatchObject({ cooling: 2, nextFreeInMs: 0 });
    expect(await stage.room(['dora'])).toMatchObject({ code: code(2) });
    expect(await stage.room(['dora'])).toMatchObject({ code: code(0) });
    expect(await stage.create('dora')).toMatchObject({ reason: 'FULL' });
  }),
  example('a ref of the old room does not reach the new room of a reused code', async (stage) => {
    const old = await stage.room(['anna'], { candidates: [code(1)] });
    await stage.close(old, 'anna');
    expect(await stage.join(old, 'bert')).toEqual({ ok: false, reason: 'CODE_EXPIRED' });
    stage.clock.advance(cooldownMs);
    await stage.tick();
    const next = await stage.room(['anna'], { candidates: [code(1)] });
    expect(next.code).toBe(old.code);
    const refused = { ok: false, reason: 'CODE_EXPIRED' };
    for (const outcome of [
      stage.join(old, 'bert'),
      stage.leave(old, 'anna'),
      stage.suspend(old, 'anna'),
      stage.resume(old, 'anna', 2),
      stage.renew(old, 'anna'),
      stage.updateRoom(old, 'anna', { name: 'mine' }),
      stage.updateSeat(old, 'anna', { name: 'me' }),
      stage.kick(old, 'anna', 'anna'),
      stage.close(old, 'anna'),
      stage.read(old.code, old.ref),
    ]) {
      expect(await outcome).toEqual(refused);
    }
    expect(await stage.seen(next)).toEqual(next);
  }),
  example('a create with the key of an earlier one answers with that one', async (stage) => {
    const room = await stage.room(['anna'], { idempotencyKey: 'one' });
    const replayed = { ok: false, reason: 'REPLAYED', code: room.code, ref: room.ref };
    expect(await stage.create('anna', { idempotencyKey: 'one' })).toEqual(replayed);
    expect(await stage.create('anna', { idempotencyKey: 'two' })).toMatchObject({ ok: true });
    expect(await stage.create('anna')).toMatchObject({ ok: true });
    await stage.close(room, 'anna');
    stage.clock.advance(idempotencyMs - 1);
    await stage.tick();
    expect(await stage.create('anna', { idempotencyKey: 'one' })).toEqual(replayed);
    stage.clock.advance(1);
    await stage.tick();
    expect(await stage.create('anna', { idempotencyKey: 'one', ref: refOf(99) })).toMatchObject({
      ok: true,
      room: { ref: refOf(99) },
    });
    expect(await stage.create('anna', { idempotencyKey: 'one' })).toMatchObject({ reason: 'REPLAYED', ref: refOf(99) });
  }),
  example('a refused create does not use up its idempotency key', async (stage) => {
    const rooms = [await stage.room(['anna']), await stage.room(['bert']), await stage.room(['cora'])];
    expect(await stage.create('dora', { idempotencyKey: 'one' })).toMatchObject({ reason: 'FULL' });
    await stage.close(rooms[1] ?? expect.unreachable(), 'bert');
    stage.clock.advance(cooldownMs);
    expect(await stage.create('dora', { idempotencyKey: 'one' })).toMatchObject({ ok: true });
  }),
  example('shards have nothing in common', async (stage) => {
    await stage.room(['anna']);
    expect(await stage.stats(8)).toEqual({ ok: true, occupied: 0, cooling: 0, nextFreeInMs: null });
    expect((await stage.room(['bert'], { shard: 8 })).code).toBe('100008');
  }),
  example('there are no more shards than a hundred', async (stage) => {
    await expect(stage.stats(100)).rejects.toThrow(RangeError);
  }),
];
