/** What happens to the links of a node: to Redis, to the database, and to its clients. */
import type { TcpProxy } from '../../support/proxy.ts';
import type { ChaosNode } from '../stage/node.ts';
import { type Fault, NODES, nodeOf } from './fault.ts';

type LinkName = keyof ChaosNode['links'];

interface LinkFault {
  readonly name: string;
  readonly lasts: Fault['lasts'];
  readonly begin: (link: TcpProxy) => () => void;
}

const SLOW_MS = 150;
/** The share of messages that is lost. */
const LOSS = 0.05;

const kinds: readonly LinkFault[] = [
  {
    name: 'cut',
    lasts: [0.05, 0.5],
    begin(link) {
      link.cut();
      return () => link.heal();
    },
  },
  {
    name: 'blackhole',
    lasts: [0.1, 0.5],
    begin(link) {
      link.freeze();
      return () => link.thaw();
    },
  },
  {
    name: 'delay',
    lasts: [0.2, 0.6],
    begin(link) {
      link.delay(SLOW_MS);
      return () => link.delay(0);
    },
  },
  {
    name: 'half-open connections',
    lasts: [0.3, 0.3],
    begin(link) {
      link.halfOpen();
      return () => undefined;
    },
  },
];

const ofLink = (link: LinkName): Fault[] =>
  kinds.map(({ name, lasts, begin }) => ({
    name: `${name} ${link}`,
    targets: NODES.map((id) => `${id} ${link}`),
    lasts,
    begin: async (stage, target) => begin(nodeOf(stage, target).links[link]),
  }));

export const linkFaults: readonly Fault[] = [...ofLink('database'), ...ofLink('clients')];

export const redisLinkFaults: readonly Fault[] = [
  ...ofLink('redis'),
  {
    // Replies come: only what Redis publishes to the node is lost, one message in twenty.
    name: 'lose messages of redis',
    targets: NODES.map((id) => `${id} redis`),
    lasts: [0.3, 0.8],
    async begin(stage, target, random) {
      const node = nodeOf(stage, target);
      node.isLost = () => random.fraction() < LOSS;
      return () => {
        node.isLost = () => false;
      };
    },
  },
  {
    name: 'cut redis past the lease',
    targets: NODES.map((id) => `${id} redis`),
    lasts: [1.2, 1.6],
    async begin(stage, target) {
      const { redis } = nodeOf(stage, target).links;
      redis.cut();
      return () => redis.heal();
    },
  },
];
