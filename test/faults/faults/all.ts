/** Every fault, by the name under which it is asked for. */
import type { Fault } from './fault.ts';
import { linkFaults } from './link-faults.ts';
import { nodeFaults } from './node-faults.ts';
import { otherFaults } from './others.ts';
import { redisFaults } from './redis-faults.ts';

/** `node-kill`, `redis-flush-all`, `cut-database`, `clients-kill-half-of-them`: what has one target alone begins with it. */
const keyOf = ({ name, targets: [target = ''] }: Fault): string => {
  const part = target.startsWith('node') ? (target.includes(' ') ? '' : 'node ') : `${target} `;
  return `${part}${name}`.replaceAll(' ', '-');
};

export const FAULTS: ReadonlyMap<string, Fault> = new Map(
  [...nodeFaults, ...linkFaults, ...redisFaults, ...otherFaults].map((fault) => [keyOf(fault), fault]),
);

/** @throws for an unknown name. */
export function faultsNamed(names: readonly string[]): Fault[] {
  return names.map((name) => {
    const fault = FAULTS.get(name);
    if (fault === undefined) throw new Error(`no fault is called ${name}; there are: ${[...FAULTS.keys()].join(', ')}`);
    return fault;
  });
}
