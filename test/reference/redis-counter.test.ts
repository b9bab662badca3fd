/** The counter on a real Redis: its numbers, its lease hints, and the blocks that it drops on purpose. */
import { readFileSync } from 'node:fs';
import { createClient } from 'redis';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { type Counter, CounterUnavailable, type TakeRequest, type TakeResult } from '../../src/reference/counter.ts';
import { ITEM_TYPES } from '../../src/reference/item-types.ts';
import { yearOf } from '../../src/reference/range.ts';
import { createRedisCounter, keyOf } from '../../src/reference/redis/counter.ts';
import { type RedisServer, startRedis } from '../support/redis.ts';
import { retry } from '../support/retry.ts';

const ORDER = ITEM_TYPES.order;
const KEY = 'ecm:ref:1';
const ASK: TakeRequest = {
  type: ORDER,
  needed: 1,
  preferred: 1,
  outageMs: 0,
  minBlock: 100,
  year: undefined,
  after: undefined,
  leased: [],
};

let redis: RedisServer;
let client: Awaited<ReturnType<typeof connect>>;
let counter: Counter;
let year: number;

async function connect(url: string) {
  const made = createClient({ url });
  made.on('error', () => {});
  await made.connect();
  return made;
}

beforeAll(async () => {
  redis = await startRedis();
  client = await connect(redis.url);
});
afterAll(async () => {
  client?.destroy();
  await redis?.stop();
});
beforeEach(async () => {
  await client.flushAll();
  counter = createRedisCounter({ url: redis.url, referencePrefix: 'ecm' });
  year = yearOf(Date.now());
});
afterEach(() => counter.close());

const block = (first: number, last: number) => ({ year, first, last });
const taken = async (ask: Partial<TakeRequest> = {}): Promise<Extract<TakeResult, { ok: true }>> => {
  const answer = await counter.take({ ...ASK, ...ask });
  if (!answer.ok) throw new Error(`short of numbers: ${JSON.stringify(answer)}`);
  return answer;
};
const short = (ask: Partial<TakeRequest> = {}) =>
  expect(counter.take({ ...ASK, ...ask })).resolves.toMatchObject({ ok: false });

test('keys begin with the prefix', () => {
  expect(keyOf('ecm', 1)).toBe('ecm:ref:1');
  expect(keyOf('sb:', 4)).toBe('sb:ref:4');
});

test('an empty counter is short, and tells how many numbers to lease', async () => {
  expect(await counter.take({ ...ASK, needed: 7, preferred: 7 })).toMatchObject({
    ok: false,
    year,
    short: { year, top: 0, amount: 100 },
  });
});

test('numbers are given in order across blocks, at least the needed ones or none', async () => {
  expect(await counter.add(ORDER, block(1, 10))).toBe(true);
  expect(await counter.add(ORDER, block(51, 60))).toBe(true);
  expect((await taken()).ranges).toEqual([block(1, 1)]);
  expect((await taken({ needed: 12, preferred: 12 })).ranges).toEqual([block(2, 10), block(51, 53)]);
  await short({ needed: 8, preferred: 8 });
  // As many as are left.
  expect((await taken({ needed: 1, preferred: 100 })).ranges).toEqual([block(54, 60)]);
  await short();
  expect(await client.keys('*')).toEqual([KEY]);
});

test('a block is added once, and never after a higher one', async () => {
  expect(await counter.add(ORDER, block(1, 10))).toBe(true);
  expect(await counter.add(ORDER, block(1, 10))).toBe(false);
  expect(await counter.add(ORDER, block(5, 25))).toBe(false);
  expect(await counter.add(ORDER, block(31, 40))).toBe(true);
  expect(await counter.add(ORDER, block(21, 30))).toBe(false);
  expect((await taken({ needed: 20, preferred: 20 })).ranges).toEqual([block(1, 10), block(31, 40)]);
});

test('one caller gets a lease hint; another one after a timeout, or after a block was added', async () => {
  await counter.add(ORDER, block(1, 60));
  expect((await taken()).hints).toEqual([]);
  expect((await taken({ needed: 10, preferred: 10 })).hints).toEqual([{ year, top: 60, amount: 100 }]);
  expect((await taken()).hints).toEqual([]);
  await client.hSet(KEY, `claim:${year}`, '1');
  expect((await taken()).hints).toHaveLength(1);
  await counter.add(ORDER, block(61, 62));
  expect((await taken()).hints).toEqual([{ year, top: 62, amount: 100 }]);
});

test('blocks are sized by the request rate', async () => {
  const outageMs = 900_000;
  await counter.add(ORDER, block(1, 10_000));
  const { hints } = await taken({ needed: 1_000, preferred: 1_000, outageMs });
  // 1,000 in about half a minute are 30,000 in 15 minutes; a block is twice that.
  expect(hints[0]?.amount).toBeGreaterThan(59_000);
  expect(hints[0]?.amount).toBeLessThanOrEqual(60_000);
});

test('blocks of before a restart are dropped, and the top is kept', async () => {
  const folder = ['--appendonly', 'yes', '--appendfsync', 'always'];
  await using lasting = await startRedis({ args: folder });
  await using own = Object.assign(createRedisCounter({ url: lasting.url, referencePrefix: 'ecm' }), {
    async [Symbol.asyncDispose]() {
      await own.close();
    },
  });
  await own.add(ORDER, block(1, 100));
  const before = await own.take(ASK);
  await lasting.restart();
  const after = await retry(() => own.take(ASK));
  expect(after).toMatchObject({ ok: false, short: { top: 100 } });
  expect(after.epoch).not.toBe(before.epoch);
  expect(await own.add(ORDER, block(101, 200))).toBe(true);
  expect(await own.take(ASK)).toMatchObject({ ok: true, ranges: [block(101, 101)] });
});

test('a primary that was demoted and promoted again has a new epoch', async () => {
  await using other = await startRedis();
  await counter.add(ORDER, block(1, 100));
  const before = await taken();
  await client.sendCommand(['REPLICAOF', '127.0.0.1', String(other.port)]);
  await client.sendCommand(['REPLICAOF', 'NO', 'ONE']);
  const after = await counter.take(ASK);
  expect(after.ok).toBe(false);
  expect(after.epoch.split(':')[0]).toBe(before.epoch.split(':')[0]);
});

test('Redis stores the leased numbers that a node knows of', async () => {
  await short({ leased: [{ year, number: 500 }] });
  await short({ leased: [{ year, number: 400 }] });
  expect(await counter.take(ASK)).toMatchObject({ short: { top: 500 } });
  // All leased numbers are in use: an empty block.
  expect(await counter.add(ORDER, block(601, 600))).toBe(true);
  expect(await counter.take(ASK)).toMatchObject({ ok: false, short: { top: 600 } });
});

test('a hash of another prefix is ignored', async () => {
  await counter.add(ORDER, block(1, 100));
  await client.hSet(KEY, 'prefix', 'INV');
  expect(await counter.take(ASK)).toMatchObject({ ok: false, short: { top: 0 } });
});

test('a caller gets no number twice from a restored old hash', async () => {
  await counter.add(ORDER, block(1, 100));
  const old = await client.hGetAll(KEY);
  const { epoch } = await taken({ needed: 40, preferred: 40 });
  await client.hSet(KEY, old);
  expect((await taken({ after: { epoch, year, number: 40 } })).ranges).toEqual([block(41, 41)]);
});

test('years are in UTC by the clock of Redis', async () => {
  const calendar = readFileSync(new URL('../../src/reference/redis/lua/calendar.lua', import.meta.url), 'utf8');
  const script = `${calendar}\nlocal years = {}\nfor i, at in ipairs(ARGV) do years[i] = year_of(tonumber(at)) end\nreturn years`;
  const instants = Array.from({ length: 430 }, (_, index) => Date.UTC(1971 + index, 0)).flatMap((at) => [at - 1, at]);
  const years = await client.eval(script, { arguments: instants.map(String) });
  expect(years).toEqual(instants.map(yearOf));
});

test('a lost Redis is noticed at once, and reconnected to without help', async () => {
  await counter.add(ORDER, block(1, 100));
  await redis.kill();
  await expect(retry(() => refusal(counter.take(ASK)))).resolves.toBeInstanceOf(CounterUnavailable);
  const started = performance.now();
  await expect(counter.take(ASK)).rejects.toThrow(CounterUnavailable);
  expect(performance.now() - started).toBeLessThan(500);
  await redis.restart();
  expect(await retry(() => counter.take(ASK))).toMatchObject({ ok: false });
  await retry(() => client.ping());
});

test('the error of a malformed URL does not repeat the password', () => {
  expect(() => createRedisCounter({ url: 'http://:hunter2@x', referencePrefix: 'ecm' })).toThrow(/^((?!hunter2).)*$/);
});

const refusal = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => Promise.reject(new Error('it was not refused')),
    (error: unknown) => error,
  );
