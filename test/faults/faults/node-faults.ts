/** What happens to the process of a node. */
import { type Fault, NODES, nodeOf } from './fault.ts';

const HOUR_S = 3_600;

export const nodeFaults: readonly Fault[] = [
  {
    name: 'kill',
    targets: NODES,
    lasts: [0.05, 0.5],
    async begin(stage, target) {
      const node = nodeOf(stage, target);
      await node.kill();
      return () => node.start();
    },
  },
  {
    name: 'terminate',
    targets: NODES,
    lasts: [0.02, 0.2],
    async begin(stage, target) {
      const node = nodeOf(stage, target);
      await node.terminate();
      return () => node.start();
    },
  },
  {
    name: 'freeze within the lease',
    targets: NODES,
    lasts: [0.05, 0.6],
    begin: freeze,
  },
  {
    name: 'freeze past the lease',
    targets: NODES,
    lasts: [1.2, 1.5],
    begin: freeze,
  },
  {
    name: 'clock set by an hour',
    targets: NODES.map((id) => `${id} clock`),
    lasts: [0.3, 0.6],
    async begin(stage, target, random) {
      const { time } = nodeOf(stage, target);
      await time.shift(random.fraction() < 0.5 ? -HOUR_S : HOUR_S);
      return () => time.shift(0);
    },
  },
];

async function freeze(...[stage, target]: Parameters<Fault['begin']>): Promise<() => void> {
  const { child } = nodeOf(stage, target).process;
  child.signal('SIGSTOP');
  return () => child.signal('SIGCONT');
}
