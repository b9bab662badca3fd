/** Every fault, by the name under which it is asked for. */
import type { TopologyName } from '../stage/topology.ts';
import type { Fault } from './fault.ts';
import { linkFaults, redisLinkFaults } from './link-faults.ts';
import { nodeFaults } from './node-faults.ts';
import { otherFaults } from './others.ts';
import { redisFaults, standaloneFaults } from './redis-faults.ts';
import { sentinelFaults } from './sentinel-faults.ts';

const anywhere: readonly Fault[] = [...nodeFaults, ...linkFaults, ...redisFaults, ...otherFaults];
const onlyOn: Readonly<Record<TopologyName, readonly Fault[]>> = {
  // Nodes learn the address of a server from its sentinels, which know of no proxy.
  standalone: [...redisLinkFaults, ...standaloneFaults],
  sentinel: sentinelFaults,
};

/** `node-kill`, `redis-flush-all`, `cut-database`, `clients-kill-half-of-them`: what has one target alone begins with it. */
const keyOf = ({ name, targets: [target = ''] }: Fault): string => {
  const part = target.startsWith('node') ? (target.includes(' ') ? '' : 'node ') : `${target} `;
  return `${part}${name}`.replaceAll(' ', '-');
};

export const faultsOn = (topology: TopologyName): ReadonlyMap<string, Fault> =>
  new Map([...anywhere, ...onlyOn[topology]].map((fault) => [keyOf(fault), fault]));

/** @throws for a name that is unknown on this topology. */
export function faultsNamed(names: readonly string[], topology: TopologyName = 'standalone'): Fault[] {
  const known = faultsOn(topology);
  return names.map((name) => {
    const fault = known.get(name);
    if (fault === undefined)
      throw new Error(`no fault of ${topology} is ${name}; there are: ${[...known.keys()].join(', ')}`);
    return fault;
  });
}
