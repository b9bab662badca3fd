/** What happens to a primary, its replicas and its sentinels. */
import type { RedisServer } from '../../support/redis.ts';
import type { SentinelGroup } from '../../support/redis-sentinel.ts';
import type { Stage } from '../stage/stage.ts';
import type { Fault } from './fault.ts';

const REDIS = ['redis'] as const;
const LOST_MS = 2_000;
const nothing = (): void => undefined;

function groupOf({ store: { group } }: Stage): SentinelGroup {
  if (group === undefined) throw new Error('there are no sentinels in this run');
  return group;
}

/** Fails the primary, has a replica promoted, and makes the lost primary a replica of it in the end. */
const failover = (
  name: string,
  fail: (group: SentinelGroup, old: RedisServer) => unknown,
  revive: (old: RedisServer) => unknown,
): Fault => ({
  name: `failover ${name}`,
  targets: REDIS,
  lasts: [0.1, 0.3],
  async begin(stage) {
    const group = groupOf(stage);
    const old = await group.primary();
    await fail(group, old);
    await group.failOver();
    return async () => {
      await revive(old);
      await group.inSync();
    };
  },
});

export const sentinelFaults: readonly Fault[] = [
  failover('by order', nothing, nothing),
  failover(
    'after a kill',
    (_, old) => old.kill(),
    (old) => old.restart(),
  ),
  failover(
    'after a stall',
    (_, old) => old.freeze(),
    (old) => old.thaw(),
  ),
  failover(
    'with lost writes',
    async (group, old) => {
      await group.stallReplication();
      await new Promise((resolve) => setTimeout(resolve, LOST_MS));
      await old.kill();
      await group.resumeReplication();
    },
    (old) => old.restart(),
  ),
];
