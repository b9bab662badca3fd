/** Which faults excuse what: the others of a run excuse nothing. */
import type { FaultSpan, Run } from './run.ts';

/** What is in flight when these happen may be lost. A node that drains, a Redis that stalls, a slow link lose nothing. */
const LOSING = /^(kill|freeze|cut|blackhole|half-open|drop-connections|flush-all|restart|failover)/;
/** After these the store is another one than before. */
const FORGETTING = /^(flush-all|restart-empty|restart-with-old-dump|failover)/;

const overlaps = ({ from, until }: FaultSpan, begin: number, end: number): boolean => from <= end && until >= begin;

/** @param targets the parts of the path */
export function lostOnPath(
  run: Run,
  targets: readonly string[],
  begin: number,
  end: number,
  marginMs = 1_000,
): boolean {
  return run.faults.some(
    (span) =>
      LOSING.test(span.fault) && targets.includes(span.target) && overlaps(span, begin - marginMs, end + marginMs),
  );
}

/** The parts between two members: between nodes Redis and both links to it, on one node neither. */
export function pathOf(from: string, to: string): string[] {
  const ends = [from, to].flatMap((node) => [node, `${node} clients`]);
  return from === to ? ends : [...ends, 'redis', `${from} redis`, `${to} redis`];
}

/** The instant since which the store has forgotten nothing. */
export const lastForgottenAt = (run: Run): number =>
  Math.max(
    Number.NEGATIVE_INFINITY,
    ...run.faults.filter(({ fault }) => FORGETTING.test(fault)).map(({ until }) => until),
  );
