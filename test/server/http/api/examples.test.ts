/** The examples of the document agree with the real answers of this server. */
import { expect, test } from 'vitest';
import { EXAMPLES } from '../../../../src/server/http/api/examples.ts';
import { readOptions } from '../../../../src/server/options/options.ts';
import { systemClock } from '../../../../src/support/clock.ts';
import { systemRandom } from '../../../../src/support/random.ts';
import { createEndpoint } from '../../../../src/webhooks/endpoint.ts';
import { retryDelayMs } from '../../../../src/webhooks/retry-delay.ts';
import { createSender } from '../../../../src/webhooks/sender.ts';
import { answers, startReceiver } from '../../../webhooks/receiver.ts';

const { endpoint, deadLetter, userId } = EXAMPLES;

test('an endpoint has the id of its URL', () => {
  expect(endpoint).toMatchObject({ id: createEndpoint(`${endpoint.origin}/hooks`).id, origin: endpoint.origin });
});

test('a failed delivery has the reason that the sender reports', async () => {
  await using receiver = await startReceiver();
  receiver.behave(answers(500));
  const sender = createSender({
    endpoint: createEndpoint(receiver.url),
    keys: [Buffer.from('a key of these tests')],
    allowPrivate: true,
    timeoutMs: 30_000,
    clock: systemClock,
    time: systemClock,
  });
  const { id } = deadLetter.event;
  const answer = await sender.send({ id, body: JSON.stringify(deadLetter.event) });
  sender.close();
  expect(answer).toMatchObject({ kind: 'failed', reason: deadLetter.reason });
  expect(endpoint.lastError).toEqual({ reason: deadLetter.reason, at: deadLetter.at });
});

test("a dead letter has the attempts and the duration of this server's retries", () => {
  const { webhookGiveUpMs } = readOptions({});
  let [attempts, lasted] = [1, 0];
  for (; lasted < webhookGiveUpMs; attempts += 1) lasted += retryDelayMs(attempts, undefined, { fraction: () => 0 });
  expect(deadLetter).toMatchObject({ attempts, at: deadLetter.event.timestamp + lasted });
});

test('a user id has the format of a drawn id', () => {
  const drawn = systemRandom.text(16);
  expect(userId).toHaveLength(drawn.length);
  expect(Buffer.from(userId, 'base64url').toString('base64url')).toBe(userId);
});
