/** A ledger and a counter in memory, which can be taken away and whose clock is turned by hand. */
import { type Counter, CounterUnavailable, type TakeRequest } from '../../src/reference/counter.ts';
import { LEAP, type LeaseRequest, type Ledger } from '../../src/reference/ledger.ts';
import type { Range } from '../../src/reference/range.ts';

export interface FakeLedger extends Ledger {
  readonly leases: LeaseRequest[];
  readonly seeds: Map<string, number>;
  readonly marks: Map<string, number>;
  away: boolean;
}

export function fakeLedger(clock: { now(): number }): FakeLedger {
  const seeds = new Map<string, number>();
  const marks = new Map<string, number>();
  const ledger: FakeLedger = {
    name: 'a fake',
    leases: [],
    seeds,
    marks,
    away: false,
    open: async () => {},
    now: () => answer(() => clock.now()),
    lease: (ask) =>
      answer(() => {
        ledger.leases.push(ask);
        const key = `${ask.prefix}${ask.year}`;
        const seed = seeds.get(key) ?? 0;
        const floor = Math.max(ask.floor, marks.get(key) ?? 0);
        const last = (seed < floor ? floor + LEAP : seed) + ask.step;
        seeds.set(key, last);
        return { first: last - ask.step + 1, last, seed, floor };
      }),
    record: (noted) =>
      answer(() => {
        for (const { prefix, year, sequence } of noted) marks.set(`${prefix}${year}`, sequence);
      }),
    close: async () => {},
  };
  const answer = async <T>(work: () => T): Promise<T> => {
    // As a database, which takes its time.
    await new Promise((resolve) => setImmediate(resolve));
    if (ledger.away) throw new Error('the database is away');
    return work();
  };
  return ledger;
}

/** Knows the asks, and is away unless somebody says what it gives. */
export function fakeCounter(take?: (ask: TakeRequest) => Awaited<ReturnType<Counter['take']>>) {
  const asks: TakeRequest[] = [];
  const added: Range[] = [];
  const counter: Counter = {
    async take(ask) {
      asks.push(ask);
      if (take === undefined) throw new CounterUnavailable('Redis is away');
      return take(ask);
    },
    async add(_type, block) {
      added.push(block);
      return true;
    },
    close: async () => {},
  };
  return Object.assign(counter, { asks, added });
}
