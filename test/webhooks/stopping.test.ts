/** How the sending of webhooks ends. */
import { expect, test } from 'vitest';
import { systemClock } from '../../src/support/clock.ts';
import { event } from '../engine/deliveries-stage.ts';
import { handClock } from '../support/hand-clock.ts';
import { answers, startReceiver } from './receiver.ts';
import { startStage } from './stage.ts';

test('stopping waits for what is under way, and takes no more', async () => {
  await using receiver = await startReceiver();
  const open: (() => void)[] = [];
  receiver.behave((response) => open.push(() => response.writeHead(204).end()));
  await using stage = await startStage({ url: receiver.url, clock: systemClock });
  stage.tell(event(1, 0), event(1, 1));
  await receiver.until(() => open.length === 1);
  const stopped = stage.webhooks.stop();
  for (const answer of open) answer();
  await stopped;
  expect(await stage.endpoint()).toMatchObject({ pending: 1 });
  expect(receiver.taken).toEqual([event(1, 0).id]);
});

test('stopping aborts what takes too long, and another node has it at once', async () => {
  const clock = handClock();
  await using receiver = await startReceiver();
  receiver.behave(() => {});
  await using stage = await startStage({ url: receiver.url, clock });
  stage.tell(event(1, 0));
  clock.turn(1_000);
  await receiver.until(() => receiver.received.length === 1);
  const stopped = stage.webhooks.stop();
  // Nothing is left to be taken once it waits for the last request.
  await new Promise(setImmediate);
  clock.turn(2_000);
  await stopped;
  receiver.behave(answers(204));
  const node = await stage.another();
  clock.turn(1_000);
  await receiver.until(() => receiver.taken.length === 1);
  expect(receiver.received).toHaveLength(2);
  await node.stop();
});
