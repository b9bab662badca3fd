/** Which fault begins when, where and for how long: from the seed alone, so that a run can be repeated. */
import type { Seeded } from '../seeded.ts';
import type { Timers } from '../stage/timers.ts';
import { type Fault, leaseShare } from './fault.ts';

export interface Planned {
  readonly fault: Fault;
  readonly target: string;
  /** Milliseconds since the begin of the faults. */
  readonly atMs: number;
  readonly lastsMs: number;
}

/** Mean time between the beginnings of two faults, as a share of the lease. */
const GAP = 0.13;
/** A part recovers for a moment before its next fault. */
const REST = 0.15;
/** So many parts are disturbed at the same time at most. */
const AT_ONCE = 3;

export function schedule(faults: readonly Fault[], forMs: number, timers: Timers, random: Seeded): Planned[] {
  const planned: Planned[] = [];
  const busyUntil = new Map<string, number>();
  let deck: Fault[] = [];
  let atMs = 0;
  while (atMs < forMs && faults.length > 0) {
    // A shuffled deck: every fault comes before one of them comes again.
    if (deck.length === 0) deck = shuffled(faults, random);
    const index = deck.findIndex((fault) => free(fault, busyUntil, atMs).length > 0);
    const disturbed = [...busyUntil.values()].filter((until) => until > atMs).length;
    const [fault] = index === -1 || disturbed >= AT_ONCE ? [] : deck.splice(index, 1);
    if (fault !== undefined) {
      const target = random.pick(free(fault, busyUntil, atMs)) ?? '';
      const lastsMs = Math.round(leaseShare(random.between(...fault.lasts), timers));
      planned.push({ fault, target, atMs: Math.round(atMs), lastsMs });
      busyUntil.set(partOf(target), atMs + lastsMs + leaseShare(REST, timers));
    }
    atMs += leaseShare(GAP, timers) * random.between(0.4, 1.6);
  }
  return planned;
}

export const partOf = (target: string): string => target.split(' ')[0] ?? target;

const free = ({ targets }: Fault, busyUntil: ReadonlyMap<string, number>, atMs: number): string[] =>
  targets.filter((target) => (busyUntil.get(partOf(target)) ?? 0) <= atMs);

function shuffled<Item>(items: readonly Item[], random: Seeded): Item[] {
  return items
    .map((item) => ({ item, rank: random.fraction() }))
    .sort((a, b) => a.rank - b.rank)
    .map(({ item }) => item);
}
