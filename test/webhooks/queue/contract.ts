/** The laws of the webhook queue, as a table of examples for every store. There are no opt-outs. */
import { expect } from 'vitest';
import { MAX_DEAD_LETTERS, MAX_READ, MIN_ATTEMPTS } from '../../../src/webhooks/queue/queue.ts';
import type { Example } from './contract/example.ts';
import { deadLetters, failures } from './contract/failures.ts';
import { leases } from './contract/leases.ts';
import { bounds, queues } from './contract/queues.ts';
import { claim, claimIds, complete, event, failed, type QueueHarness } from './harness.ts';

export const queueContract: Readonly<Record<string, readonly Example[]>> = {
  queues,
  leases,
  failures,
  'dead letters': deadLetters,
  bounds,
};

/** Creates thousands of dead letters: too slow for the examples, which run on every store. */
export async function deletesOldestDeadLetters(harness: QueueHarness): Promise<void> {
  await claimIds(harness);
  const surplus = 3;
  const count = MAX_DEAD_LETTERS + surplus;
  for (let room = 0; room < count; room += MAX_READ) {
    const rooms = Array.from({ length: Math.min(MAX_READ, count - room) }, (_, index) => room + index);
    await harness.append(...rooms.map((number) => event(number, 0)));
    for (let attempt = 0; attempt < MIN_ATTEMPTS; attempt += 1) {
      const { deliveries } = await claim(harness, { maxRooms: MAX_READ });
      await Promise.all(deliveries.map((one) => complete(harness, one, failed(0, 0))));
    }
  }
  expect(await harness.queue.stats('first')).toMatchObject({ pending: 0, dead: MAX_DEAD_LETTERS, dropped: surplus });
  expect(await harness.queue.replay('first')).toBe(MAX_DEAD_LETTERS);
  expect(await harness.queue.stats('first')).toMatchObject({ pending: MAX_DEAD_LETTERS, dead: 0 });
}
