/** Which code a room gets, and when a code may be had again. */
import { expect } from 'vitest';
import { POLICY, refOf } from '../../room/fixtures.ts';
import { nthCode } from '../harness.ts';
import { example } from './example.ts';

const { cooldownMs, idempotencyMs } = POLICY;

export const codes = [
  example('the first free candidate is taken', async (harness) => {
    expect(await harness.room(['anna'], { candidates: [nthCode(2), nthCode(1)] })).toMatchObject({ code: nthCode(2) });
    expect(await harness.room(['bert'], { candidates: [nthCode(2), nthCode(1), nthCode(0)] })).toMatchObject({
      code: nthCode(1),
    });
  }),
  example('without a free candidate the search goes on from the given index', async (harness) => {
    await harness.room(['anna'], { candidates: [nthCode(0)] });
    expect(await harness.room(['bert'], { candidates: [nthCode(0)], searchFrom: 2 })).toMatchObject({
      code: nthCode(2),
    });
    expect(await harness.room(['cora'], { searchFrom: 0 })).toMatchObject({ code: nthCode(1) });
  }),
  example('the search goes round the end once and finds the last free code', async (harness) => {
    await harness.room(['anna'], { candidates: [nthCode(2)] });
    expect(await harness.room(['bert'], { searchFrom: 2 })).toMatchObject({ code: nthCode(0) });
    expect(await harness.room(['cora'], { searchFrom: 2 })).toMatchObject({ code: nthCode(1) });
  }),
  example(
    'the last free code of many is found from anywhere',
    async (harness) => {
      for (let index = 0; index < 37; index += 1) {
        if (index !== 21) await harness.room([`user-${index}`], { candidates: [nthCode(index)] });
      }
      expect(await harness.room(['anna'], { searchFrom: 22 })).toMatchObject({ code: nthCode(21) });
      expect(await harness.create('bert', { searchFrom: 21 })).toEqual({
        ok: false,
        reason: 'FULL',
        nextFreeInMs: null,
      });
    },
    { perShard: 37 },
  ),
  example(
    'the search finds codes behind the end of the bitmap',
    async (harness) => {
      expect(await harness.room(['anna'], { searchFrom: 20 })).toMatchObject({ code: nthCode(20) });
      expect(await harness.room(['bert'], { searchFrom: 36 })).toMatchObject({ code: nthCode(36) });
      expect(await harness.room(['cora'], { searchFrom: 36 })).toMatchObject({ code: nthCode(0) });
    },
    { perShard: 37 },
  ),
  example('a full shard says when its next code has cooled', async (harness) => {
    const rooms = [await harness.room(['anna']), await harness.room(['bert']), await harness.room(['cora'])];
    expect(await harness.create('dora')).toEqual({ ok: false, reason: 'FULL', nextFreeInMs: null });
    for (const [index, room] of rooms.entries()) {
      await harness.close(room, ['anna', 'bert', 'cora'][index] ?? '');
      harness.clock.advance(1_000);
    }
    expect(await harness.create('dora')).toEqual({ ok: false, reason: 'FULL', nextFreeInMs: cooldownMs - 3_000 });
  }),
  example('a released code cools before it is used again', async (harness) => {
    const room = await harness.room(['anna'], { candidates: [nthCode(1)] });
    await harness.close(room, 'anna');
    expect(await harness.stats()).toEqual({ ok: true, occupied: 0, cooling: 1, nextFreeInMs: cooldownMs });
    expect(await harness.room(['bert'], { candidates: [nthCode(1), nthCode(2)] })).toMatchObject({ code: nthCode(2) });
    expect(await harness.room(['cora'], { searchFrom: 1 })).toMatchObject({ code: nthCode(0) });
    harness.clock.advance(cooldownMs - 1);
    expect(await harness.create('dora', { candidates: [nthCode(1)] })).toEqual({
      ok: false,
      reason: 'FULL',
      nextFreeInMs: 1,
    });
    harness.clock.advance(1);
    expect(await harness.room(['dora'], { candidates: [nthCode(1)] })).toMatchObject({ code: nthCode(1) });
    expect(await harness.stats()).toEqual({ ok: true, occupied: 3, cooling: 0, nextFreeInMs: null });
  }),
  example('when every code is taken, the one that finished cooling first is used', async (harness) => {
    const rooms = [await harness.room(['anna']), await harness.room(['bert']), await harness.room(['cora'])];
    await harness.close(rooms[2] ?? expect.unreachable(), 'cora');
    harness.clock.advance(1);
    await harness.close(rooms[0] ?? expect.unreachable(), 'anna');
    harness.clock.advance(cooldownMs);
    expect(await harness.stats()).toMatchObject({ cooling: 2, nextFreeInMs: 0 });
    expect(await harness.room(['dora'])).toMatchObject({ code: nthCode(2) });
    expect(await harness.room(['dora'])).toMatchObject({ code: nthCode(0) });
    expect(await harness.create('dora')).toMatchObject({ reason: 'FULL' });
  }),
  example('a ref of the old room does not reach the new room of a reused code', async (harness) => {
    const old = await harness.room(['anna'], { candidates: [nthCode(1)] });
    await harness.close(old, 'anna');
    expect(await harness.join(old, 'bert')).toEqual({ ok: false, reason: 'CODE_EXPIRED' });
    harness.clock.advance(cooldownMs);
    await harness.tick();
    const next = await harness.room(['anna'], { candidates: [nthCode(1)] });
    expect(next.code).toBe(old.code);
    const refused = { ok: false, reason: 'CODE_EXPIRED' };
    for (const outcome of [
      harness.join(old, 'bert'),
      harness.leave(old, 'anna'),
      harness.suspend(old, 'anna'),
      harness.resume(old, 'anna', 2),
      harness.renew(old, 'anna'),
      harness.updateRoom(old, 'anna', { name: 'mine' }),
      harness.updateSeat(old, 'anna', { name: 'me' }),
      harness.kick(old, 'anna', 'anna'),
      harness.close(old, 'anna'),
      harness.read(old.code, old.ref),
    ]) {
      expect(await outcome).toEqual(refused);
    }
    expect(await harness.snapshot(next)).toEqual(next);
  }),
  example('a create with the idempotency key of an earlier one is answered with that one’s room', async (harness) => {
    const room = await harness.room(['anna'], { idempotencyKey: 'one' });
    const replayed = { ok: false, reason: 'REPLAYED', code: room.code, ref: room.ref };
    expect(await harness.create('anna', { idempotencyKey: 'one' })).toEqual(replayed);
    expect(await harness.create('anna', { idempotencyKey: 'two' })).toMatchObject({ ok: true });
    expect(await harness.create('anna')).toMatchObject({ ok: true });
    await harness.close(room, 'anna');
    harness.clock.advance(idempotencyMs - 1);
    await harness.tick();
    expect(await harness.create('anna', { idempotencyKey: 'one' })).toEqual(replayed);
    harness.clock.advance(1);
    await harness.tick();
    expect(await harness.create('anna', { idempotencyKey: 'one', ref: refOf(99) })).toMatchObject({
      ok: true,
      room: { ref: refOf(99) },
    });
    expect(await harness.create('anna', { idempotencyKey: 'one' })).toMatchObject({
      reason: 'REPLAYED',
      ref: refOf(99),
    });
  }),
  example('a refused create does not use up its idempotency key', async (harness) => {
    const rooms = [await harness.room(['anna']), await harness.room(['bert']), await harness.room(['cora'])];
    expect(await harness.create('dora', { idempotencyKey: 'one' })).toMatchObject({ reason: 'FULL' });
    await harness.close(rooms[1] ?? expect.unreachable(), 'bert');
    harness.clock.advance(cooldownMs);
    expect(await harness.create('dora', { idempotencyKey: 'one' })).toMatchObject({ ok: true });
  }),
  example('shards do not affect each other', async (harness) => {
    await harness.room(['anna']);
    expect(await harness.stats(8)).toEqual({ ok: true, occupied: 0, cooling: 0, nextFreeInMs: null });
    expect((await harness.room(['bert'], { shard: 8 })).code).toBe('100008');
  }),
  example('a shard beyond the hundredth does not exist', async (harness) => {
    await expect(harness.stats(100)).rejects.toThrow(RangeError);
  }),
];
