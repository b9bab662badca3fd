/** The generator on stores in memory: its requests to them, and their time. */
import { pino } from 'pino';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { createReferenceGenerator, type ReferenceGeneratorOptions } from '../../src/reference/from-options.ts';
import { type CountingOptions, createCountedReferences } from '../../src/reference/generator.ts';
import { ItemTypeError } from '../../src/reference/item-types.ts';
import { LedgerMisconfigured, SKIP_AFTER_RESTORE } from '../../src/reference/ledger.ts';
import type { ReferenceNotice } from '../../src/reference/port.ts';
import { ReferenceUnavailable } from '../../src/reference/port.ts';
import { type ManualClock, manualClock } from '../support/manual-clock.ts';
import { type FakeLedger, fakeCounter, fakeLedger } from './fake-stores.ts';

const MIDSUMMER = Date.UTC(2026, 5, 21);

let clock: ManualClock;
let ledger: FakeLedger;
let lines: Record<string, unknown>[];
let notices: ReferenceNotice[];

beforeEach(() => {
  clock = manualClock(MIDSUMMER);
  ledger = fakeLedger(clock);
  lines = [];
  notices = [];
});

const log = pino({ level: 'info', base: null }, { write: (line: string) => void lines.push(JSON.parse(line)) });
const generatorWith = (options: CountingOptions = {}, counter?: ReturnType<typeof fakeCounter>) =>
  createCountedReferences({ ledger, counter }, { clock, log, onNotice: (notice) => notices.push(notice), ...options });

test.each([{}, { ledger: undefined }, { ledger: 5 }, { ledger: {} }])(
  'without a ledger there is none: %o',
  (options) => {
    const make = () => createReferenceGenerator(options as ReferenceGeneratorOptions); // as plain JavaScript can
    expect(make).toThrow(LedgerMisconfigured);
    expect(make).toThrow(/^ledger: needed/);
  },
);

describe('an issued reference', () => {
  test('is counted from 1, separately for each item type', async () => {
    const generator = generatorWith();
    expect(await generator.generate('order')).toBe('ORD202600000001');
    expect(await generator.generate('order')).toBe('ORD202600000002');
    expect(await generator.generate('user')).toBe('USR202600000001');
    expect(await generator.generate('product')).toBe('PRO202600000001');
    expect(await generator.generate('room')).toBe('ROM202600000001');
    expect(await generator.generateMany('order', 3)).toEqual(['ORD202600000003', 'ORD202600000004', 'ORD202600000005']);
  });

  test('has the prefix and width of a custom item type', async () => {
    const generator = generatorWith({ types: { invoice: { number: 5, prefix: 'INV', width: 4 } } });
    expect(await generator.generate('invoice')).toBe('INV20260001');
    expect(generator.parse('INV20260001')).toEqual({ type: 'invoice', year: 2026, sequence: 1 });
    await expect(generator.generate('receipt')).rejects.toThrow(ItemTypeError);
    await expect(generator.generate('constructor')).rejects.toThrow(ItemTypeError);
  });

  test('has a fixed year instead of the year of the store', async () => {
    const generator = generatorWith({ year: 1999 });
    expect(await generator.generate('order')).toBe('ORD199900000001');
  });

  test.each([0, -1, 1.5, 1_000_001, Number.NaN])('%d is refused as a count', async (count) => {
    await expect(generatorWith().generateMany('order', count)).rejects.toThrow(RangeError);
  });

  test('is logged with item type, trace id and name', async () => {
    const generator = generatorWith();
    await generator.generate('order', { traceId: 'trace-7', name: 'checkout' });
    await generator.generateMany('user', 1_000, { traceId: 'trace-8', name: 'import' });
    expect(lines).toEqual([
      expect.objectContaining({
        level: 30,
        itemType: 'order',
        reference: 'ORD202600000001',
        traceId: 'trace-7',
        name: 'checkout',
      }),
      expect.objectContaining({
        level: 30,
        itemType: 'user',
        count: 1_000,
        first: 'USR202600000001',
        last: 'USR202600001000',
        traceId: 'trace-8',
        name: 'import',
      }),
    ]);
  });
});

describe('a lease', () => {
  test('is shared by a hundred concurrent requests', async () => {
    const generator = generatorWith();
    const references = await Promise.all(Array.from({ length: 100 }, () => generator.generate('order')));
    expect(new Set(references).size).toBe(100);
    expect(ledger.leases).toHaveLength(1);
  });

  test('is made before a request has to wait for it', async () => {
    const generator = generatorWith();
    await generator.generate('order');
    await generator.generateMany('order', 60);
    await vi.waitFor(() => expect(ledger.leases).toHaveLength(2));
    ledger.away = true;
    expect(await generator.generateMany('order', 100)).toHaveLength(100);
  });

  test('is sized by the request rate, so that 15 minutes without a database are bridged', async () => {
    const generator = generatorWith();
    const perSecond = 20;
    const second = async () => {
      for (let count = 0; count < perSecond; count += 1) await generator.generate('order');
      await new Promise((resolve) => setImmediate(resolve));
      clock.advance(1_000);
    };
    for (let passed = 0; passed < 180; passed += 1) await second();
    ledger.away = true;
    for (let passed = 0; passed < 15 * 60; passed += 1) await second();
    ledger.away = false;
    expect(new Set(ledger.leases.map(({ step }) => step)).size).toBeGreaterThan(1);
  });

  test('that failed is requested again', async () => {
    const generator = generatorWith();
    ledger.away = true;
    await expect(generator.generate('order')).rejects.toThrow(ReferenceUnavailable);
    ledger.away = false;
    expect(await generator.generate('order')).toBe('ORD202600000001');
  });
});

describe('a year', () => {
  const midnight = Date.UTC(2027, 0);

  test('changes at midnight UTC by the clock of the store, not of the process', async () => {
    const own = manualClock(midnight - 3_600_000);
    const generator = generatorWith({ clock: own });
    clock.advance(midnight - 1_000 - clock.now());
    expect(await generator.generate('order')).toBe('ORD202600000001');
    for (const each of [clock, own]) each.advance(999);
    expect(await generator.generate('order')).toBe('ORD202600000002');
    for (const each of [clock, own]) each.advance(1);
    expect(await generator.generate('order')).toBe('ORD202700000001');
  });

  test('of a held number is the year of the store, although the clock of the process was set', async () => {
    const own = manualClock(midnight - 3_600_000);
    const generator = generatorWith({ clock: own });
    clock.advance(midnight - 10_000 - clock.now());
    await generator.generate('order');
    own.step(24 * 3_600_000);
    expect(await generator.generate('order')).toBe('ORD202600000002');
    own.step(-50 * 365 * 24 * 3_600_000);
    expect(await generator.generate('order')).toBe('ORD202600000003');
  });

  test('begins although the database is away at midnight', async () => {
    const generator = generatorWith();
    clock.advance(midnight - 60_000 - clock.now());
    await generator.generate('order');
    await generator.generate('order');
    await vi.waitFor(() => expect(ledger.leases.map(({ year }) => year)).toContain(2027));
    ledger.away = true;
    clock.advance(60_000);
    expect(await generator.generate('order')).toBe('ORD202700000001');
  });

  test('that comes again, because a clock was set back, repeats no number', async () => {
    const generator = generatorWith();
    clock.advance(midnight - clock.now());
    const references = [await generator.generate('order')];
    clock.advance(-1_000);
    references.push(await generator.generate('order'), await generator.generate('order'));
    clock.advance(2_000);
    references.push(await generator.generate('order'));
    expect(new Set(references).size).toBe(4);
  });
});

describe('a database that lost leases', () => {
  test('is noticed at the next lease, its numbers are skipped, and an alarm is raised', async () => {
    const generator = generatorWith({ outageMs: 0 });
    await generator.generateMany('order', 5_000);
    ledger.seeds.set('ORD2026', 100);
    const next = await generator.generateMany('order', 5_000);
    expect(generator.parse(next[0] ?? '').sequence).toBeGreaterThan(5_000);
    expect(generator.parse(next.at(-1) ?? '').sequence).toBeGreaterThan(5_000 + SKIP_AFTER_RESTORE);
    expect(notices).toEqual([
      expect.objectContaining({ kind: 'ledger-behind', itemType: 'order', year: 2026, seed: 100 }),
    ]);
    expect(lines).toContainEqual(expect.objectContaining({ level: 50, seed: 100 }));
  });

  test('is noticed by the high-water marks when no process remembers the numbers', async () => {
    const first = generatorWith();
    first.record('ORD202600000321');
    first.record('ORD202600000320');
    clock.advance(5_000);
    await vi.waitFor(() => expect(ledger.marks.get('ORD2026')).toBe(321));
    expect(await generatorWith().generate('order')).toBe(`ORD2026${String(322 + SKIP_AFTER_RESTORE).padStart(8, '0')}`);
    expect(notices).toHaveLength(1);
  });

  test('buffered high-water marks are written when the generator closes', async () => {
    const generator = generatorWith();
    generator.record('ORD202600000005');
    await generator.close();
    expect(ledger.marks.get('ORD2026')).toBe(5);
  });
});

describe('with Redis', () => {
  const stamp = { now: MIDSUMMER, year: 2026, epoch: 'a' };

  test('numbers come from its counter, and buffered ones without a request', async () => {
    let next = 1;
    const counter = fakeCounter(({ preferred }) => {
      const range = { year: 2026, first: next, last: next + preferred - 1 };
      next += preferred;
      return { ok: true, ...stamp, ranges: [range], hints: [] };
    });
    const generator = generatorWith({ buffered: ['room'] }, counter);
    await generator.prepare();
    expect(await generator.generate('room')).toBe('ROM202600000001');
    for (let count = 0; count < 10; count += 1) await generator.generate('room');
    expect(counter.requests).toHaveLength(1);
    await generator.generate('order');
    await generator.generate('order');
    expect(counter.requests.slice(1).map(({ needed, preferred }) => [needed, preferred])).toEqual([
      [1, 1],
      [1, 1],
    ]);
    expect(counter.requests[2]?.after).toMatchObject({ epoch: 'a', year: 2026 });
    expect(ledger.leases).toEqual([]);
  });

  test('an empty counter causes one lease, whose rest is added to the counter once', async () => {
    const counter = fakeCounter(() => ({ ok: false, ...stamp, short: { year: 2026, top: 0, amount: 1_000 } }));
    const generator = generatorWith({}, counter);
    expect(await generator.generateMany('order', 3)).toHaveLength(3);
    expect(counter.added).toEqual([{ year: 2026, first: 4, last: 1_000 }]);
  });

  test('a node that gets a lease hint adds a block in the background', async () => {
    const low = { year: 2026, top: 900, amount: 500 };
    ledger.seeds.set('ORD2026', 900);
    const counter = fakeCounter(() => ({
      ok: true,
      ...stamp,
      ranges: [{ year: 2026, first: 7, last: 7 }],
      hints: [low],
    }));
    expect(await generatorWith({}, counter).generate('order')).toBe('ORD202600000007');
    await vi.waitFor(() => expect(counter.added).toEqual([{ year: 2026, first: 901, last: 1_400 }]));
    expect(notices).toEqual([]);
  });

  test('the top in Redis reveals a database that was restored', async () => {
    const counter = fakeCounter(() => ({ ok: false, ...stamp, short: { year: 2026, top: 8_000, amount: 10 } }));
    const [reference = ''] = await generatorWith({}, counter).generateMany('order', 1);
    expect(reference).toBe(`ORD2026${String(8_001 + SKIP_AFTER_RESTORE).padStart(8, '0')}`);
    expect(notices).toEqual([expect.objectContaining({ inUse: 8_000, seed: 0 })]);
  });

  test('numbers come from the ledger while Redis is away, and from the rest of the block while both are', async () => {
    const counter = fakeCounter();
    const generator = generatorWith({}, counter);
    expect(await generator.generate('order')).toBe('ORD202600000001');
    ledger.away = true;
    expect(await generator.generate('order')).toBe('ORD202600000002');
    await expect(generator.generateMany('order', 5_000)).rejects.toThrow(ReferenceUnavailable);
    expect(counter.requests).toHaveLength(3);
  });

  test('without Redis and ledger, references are unavailable, with the reason', async () => {
    ledger.away = true;
    const error = await generatorWith({}, fakeCounter())
      .generate('order')
      .catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(ReferenceUnavailable);
    expect(error).toMatchObject({
      message: `no order number can be issued: the ledger does not answer (${ledger.name}: the database is away)`,
      cause: { message: 'the database is away' },
    });
  });
});
