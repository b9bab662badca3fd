/** How dispatchers stop. */
import { expect, test } from 'vitest';
import { systemClock } from '../../src/support/clock.ts';
import { manualClock } from '../support/manual-clock.ts';
import { startWebhookHarness } from './harness.ts';
import { event } from './queue/harness.ts';
import { answers, startReceiver } from './receiver.ts';

test('stopping waits for requests in flight, and claims no more events', async () => {
  await using receiver = await startReceiver();
  const open: (() => void)[] = [];
  receiver.behave((response) => open.push(() => response.writeHead(204).end()));
  await using harness = await startWebhookHarness({ url: receiver.url, clock: systemClock });
  harness.append(event(1, 0), event(1, 1));
  await receiver.until(() => open.length === 1);
  const stopped = harness.webhooks.stop();
  for (const answer of open) answer();
  await stopped;
  expect(await harness.endpoint()).toMatchObject({ pending: 1 });
  expect(receiver.taken).toEqual([event(1, 0).id]);
});

test('stopping aborts a request that takes too long, and another node can claim its event at once', async () => {
  const clock = manualClock();
  await using receiver = await startReceiver();
  receiver.behave(() => {});
  await using harness = await startWebhookHarness({ url: receiver.url, clock });
  harness.append(event(1, 0));
  clock.advance(1_000);
  await receiver.until(() => receiver.received.length === 1);
  const stopped = harness.webhooks.stop();
  // By the next turn it waits for the request in flight.
  await new Promise(setImmediate);
  clock.advance(2_000);
  await stopped;
  receiver.behave(answers(204));
  const node = await harness.startNode();
  clock.advance(1_000);
  await receiver.until(() => receiver.taken.length === 1);
  expect(receiver.received).toHaveLength(2);
  await node.stop();
});
