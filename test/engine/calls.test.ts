/** Events whose sender is told by the receiving nodes how often they were delivered. */
import { expect, test, vi } from 'vitest';
import { redisChannel } from '../../src/engine/redis/bus.ts';
import { startRedis } from '../support/redis.ts';
import { PREFIX, reach, startNode, Unavailable } from './bus-node.ts';

const ROOM = 'room:{ROM202600000042}';
const MEMBER = `${ROOM}:anna`;

test('deliveries: 1 for a remote member, 0 as soon as it left, 0 for an unknown one', async () => {
  await using redis = await startRedis();
  await using near = await startNode(redis);
  await using far = await startNode(redis);
  const guest = await far.guest();
  await far.join(guest, MEMBER);
  expect(await reach(near, MEMBER)).toBe(1);
  const [there, nowhere] = await Promise.all([reach(near, MEMBER), reach(near, `${ROOM}:nobody`)]);
  expect([there, nowhere]).toEqual([1, 0]);
  await guest.seat.leave(MEMBER);
  // At once: the node that is subscribed still says that it has nobody.
  expect(await reach(near, MEMBER)).toBe(0);
});

test('a call is rejected in time when the node that Redis counts as a subscriber is cut off', async () => {
  await using redis = await startRedis();
  await using near = await startNode(redis, { deadlineMs: 300 });
  await using far = await startNode(redis, { deadlineMs: 300 });
  let delivered = 0;
  far.bus.onEvent(() => {
    delivered += 1;
    return 1;
  });
  await far.join(await far.guest(), MEMBER);
  expect(await reach(near, MEMBER)).toBe(1);
  far.proxy.freeze();
  await near.bus.broadcast(redisChannel(PREFIX, MEMBER), 'hello');
  await expect(reach(near, MEMBER)).rejects.toBeInstanceOf(Unavailable);
  far.proxy.thaw();
  // Refused means refused: it is not delivered later.
  await vi.waitFor(() => expect(far.bus.stats().stale).toBe(2));
  expect(delivered).toBe(1);
});

test('acknowledgements of one turn of the event loop are one message', async () => {
  await using redis = await startRedis();
  await using near = await startNode(redis);
  await using far = await startNode(redis);
  far.bus.onEvent(() => 1);
  await far.join(await far.guest(), MEMBER);
  const { published } = far.bus.stats();
  const counts = await Promise.all(Array.from({ length: 50 }, () => reach(near, MEMBER)));
  expect(counts).toEqual(Array.from({ length: 50 }, () => 1));
  expect(far.bus.stats().published - published).toBeLessThan(10);
});
