/** The contract of a ledger, on every kind of database. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openLedger } from '../../src/reference/from-options.ts';
import { type LeaseRequest, type Ledger, SKIP_AFTER_RESTORE } from '../../src/reference/ledger.ts';
import { DATABASE_HOSTS, type DatabaseHost } from '../database/database-hosts.ts';
import { retry } from '../support/retry.ts';
import { startWorker } from './worker-process.ts';

const ORDER: LeaseRequest = { prefix: 'ORD', year: 2026, step: 10, floor: 0 };

describe.each(DATABASE_HOSTS)('$name', ({ start }) => {
  let stage: DatabaseHost;
  let url: string;
  const open: Ledger[] = [];
  const ledgerAt = (at: string): Ledger => {
    const ledger = openLedger(at);
    open.push(ledger);
    return ledger;
  };
  const fresh = async (): Promise<Ledger> => ledgerAt(await stage.empty());

  beforeAll(async () => {
    stage = await start();
    url = await stage.empty();
  });
  afterAll(async () => {
    await Promise.all(open.map((ledger) => ledger.close()));
    await stage[Symbol.asyncDispose]();
  });

  test('consecutive leases have consecutive numbers', async () => {
    const ledger = await fresh();
    expect(await ledger.lease(ORDER)).toEqual({ first: 1, last: 10, seed: 0, floor: 0 });
    expect(await ledger.lease({ ...ORDER, step: 5 })).toEqual({ first: 11, last: 15, seed: 10, floor: 0 });
    expect(await ledger.lease({ ...ORDER, step: 1 })).toEqual({ first: 16, last: 16, seed: 15, floor: 0 });
  });

  test('each prefix and each year has its own seed', async () => {
    const ledger = await fresh();
    await ledger.lease(ORDER);
    expect(await ledger.lease({ ...ORDER, year: 2027 })).toMatchObject({ first: 1, last: 10 });
    expect(await ledger.lease({ ...ORDER, prefix: 'USR' })).toMatchObject({ first: 1, last: 10 });
    expect(await ledger.lease(ORDER)).toMatchObject({ first: 11, last: 20 });
  });

  test('seeds exceed 32 bits', async () => {
    const ledger = await fresh();
    const floor = 3_000_000_000_000;
    expect(await ledger.lease({ ...ORDER, floor })).toMatchObject({
      first: floor + SKIP_AFTER_RESTORE + 1,
      last: floor + SKIP_AFTER_RESTORE + 10,
    });
    expect(await ledger.lease({ ...ORDER, floor })).toMatchObject({
      first: floor + SKIP_AFTER_RESTORE + 11,
      seed: floor + SKIP_AFTER_RESTORE + 10,
    });
  });

  test('a seed behind numbers in use skips them, and returns its former value', async () => {
    const ledger = await fresh();
    await ledger.lease(ORDER);
    expect(await ledger.lease({ ...ORDER, floor: 10 })).toEqual({ first: 11, last: 20, seed: 10, floor: 10 });
    const jumped = await ledger.lease({ ...ORDER, floor: 500 });
    expect(jumped).toEqual({ first: 501 + SKIP_AFTER_RESTORE, last: 510 + SKIP_AFTER_RESTORE, seed: 20, floor: 500 });
    expect(await ledger.lease(ORDER)).toMatchObject({
      first: 511 + SKIP_AFTER_RESTORE,
      seed: 510 + SKIP_AFTER_RESTORE,
      floor: 0,
    });
  });

  test('the high-water mark counts as in use', async () => {
    const ledger = await fresh();
    const mark = { prefix: 'ORD', year: 2026 };
    await ledger.record([{ ...mark, sequence: 40 }]);
    await ledger.record([
      { ...mark, sequence: 30 },
      { ...mark, prefix: 'USR', sequence: 90 },
    ]);
    expect(await ledger.lease(ORDER)).toEqual({
      first: 41 + SKIP_AFTER_RESTORE,
      last: 50 + SKIP_AFTER_RESTORE,
      seed: 0,
      floor: 40,
    });
    expect(await ledger.lease({ ...ORDER, year: 2027 })).toMatchObject({ first: 1, floor: 0 });
  });

  test('the clock returns the present time in milliseconds', async () => {
    const before = Date.now();
    const now = await ledgerAt(url).now();
    expect(Math.abs(now - before)).toBeLessThan(60_000);
    expect(now % 1).toBe(0);
  });

  // In rounds: every call has 2.5 s, and on a busy machine a hundred durable commits of one row after another take longer.
  test('concurrent leases through three connections do not overlap', async () => {
    const ledgers = [url, url, url].map(ledgerAt);
    // A busy machine may miss the short time limits of the database; a lease that was refused has taken no number.
    const leaseOf = (index: number) => retry(() => ledgers[index % 3]?.lease(ORDER) ?? expect.unreachable());
    const leases: Awaited<ReturnType<Ledger['lease']>>[] = [];
    for (let round = 0; round < 3; round += 1) {
      const taken = Array.from({ length: 33 }, (_, index) => leaseOf(index));
      leases.push(...(await Promise.all(taken)));
    }
    const firsts = leases.map(({ first }) => first).sort((a, b) => a - b);
    expect(firsts).toEqual(Array.from({ length: 99 }, (_, index) => 10 * index + 1));
  });

  test('several ledgers that open an empty database at once can all use it', async () => {
    const empty = await stage.empty();
    const ledgers = Array.from({ length: 6 }, () => ledgerAt(empty));
    await Promise.all(ledgers.map((ledger) => retry(() => ledger.open())));
    const leases = await Promise.all(ledgers.map((ledger) => ledger.lease(ORDER)));
    expect(new Set(leases.map(({ first }) => first)).size).toBe(6);
  });

  test('two processes that start on an empty database share no number', async () => {
    const empty = await stage.empty();
    await using one = await startWorker({ ledger: empty });
    await using other = await startWorker({ ledger: empty });
    await Promise.all([one, other].map((worker) => worker.issue(20_000)));
    const ranges = [...one.ranges, ...other.ranges].sort((a, b) => a[0] - b[0]);
    expect(ranges.reduce((sum, [first, last]) => sum + last - first + 1, 0)).toBe(40_000);
    for (const [index, [first]] of ranges.entries()) expect(first).toBeGreaterThan(ranges[index - 1]?.[1] ?? 0);
  });

  test('a ledger that is opened again goes on at its seed', async () => {
    const at = await stage.empty();
    const first = openLedger(at);
    await first.lease(ORDER);
    await first.close();
    expect(await ledgerAt(at).lease(ORDER)).toMatchObject({ first: 11 });
  });

  test('a database restored beneath an open connection is behind, and the next lease skips the numbers in use', async () => {
    const at = await stage.empty();
    const ledger = openLedger(at);
    await ledger.lease(ORDER);
    await ledger.close();
    const restore = await stage.backUp(at);
    const again = ledgerAt(at);
    const { last } = await retry(() => again.lease({ ...ORDER, step: 1_000 }));
    await restore();
    const lease = await retry(() => again.lease({ ...ORDER, floor: last }));
    expect(lease).toMatchObject({ seed: 10, floor: last });
    expect(lease.first).toBeGreaterThan(last);
  });

  test('a lease fails while the database hangs, and earlier leases survive a kill', async () => {
    const at = await stage.empty();
    const ledger = ledgerAt(at);
    await ledger.lease(ORDER);
    const thaw = await stage.freeze(at);
    const started = performance.now();
    await expect(ledger.lease(ORDER)).rejects.toThrow();
    expect(performance.now() - started).toBeLessThan(10_000);
    thaw();
    const { first } = await retry(() => ledger.lease(ORDER));
    // The failed request may have leased numbers: they are wasted.
    expect([11, 21]).toContain(first);
    const { server } = stage;
    await server?.kill();
    if (server !== undefined) await expect(ledger.lease(ORDER)).rejects.toThrow();
    await server?.start();
    expect((await retry(() => ledger.lease(ORDER))).first).toBeGreaterThan(first);
  });
});
