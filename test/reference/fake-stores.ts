/** A ledger and a counter in memory, which can fail and have a manual clock. */
import { type Counter, CounterUnavailable, type TakeRequest } from '../../src/reference/counter.ts';
import { type LeaseRequest, type Ledger, SKIP_AFTER_RESTORE } from '../../src/reference/ledger.ts';
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
    lease: (request) =>
      answer(() => {
        ledger.leases.push(request);
        const key = `${request.prefix}${request.year}`;
        const seed = seeds.get(key) ?? 0;
        const floor = Math.max(request.floor, marks.get(key) ?? 0);
        const last = (seed < floor ? floor + SKIP_AFTER_RESTORE : seed) + request.step;
        seeds.set(key, last);
        return { first: last - request.step + 1, last, seed, floor };
      }),
    record: (noted) =>
      answer(() => {
        for (const { prefix, year, sequence } of noted) marks.set(`${prefix}${year}`, sequence);
      }),
    close: async () => {},
  };
  const answer = async <T>(work: () => T): Promise<T> => {
    // Asynchronous, as a database is.
    await new Promise((resolve) => setImmediate(resolve));
    if (ledger.away) throw new Error('the database is away');
    return work();
  };
  return ledger;
}

/** Records its requests. Unavailable unless `take` is given. */
export function fakeCounter(take?: (request: TakeRequest) => Awaited<ReturnType<Counter['take']>>) {
  const requests: TakeRequest[] = [];
  const added: Range[] = [];
  const counter: Counter = {
    async take(request) {
      requests.push(request);
      if (take === undefined) throw new CounterUnavailable('Redis is away');
      return take(request);
    },
    async add(_type, block) {
      added.push(block);
      return true;
    },
    health: () => ({ state: take === undefined ? 'down' : 'up', since: 0 }),
    close: async () => {},
  };
  return Object.assign(counter, { requests, added });
}
