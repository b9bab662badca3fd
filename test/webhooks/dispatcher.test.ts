/** When events are sent, by one node or by several nodes over one queue. */
import { describe, expect, test } from 'vitest';
import { systemClock } from '../../src/support/clock.ts';
import { createLog } from '../../src/support/log.ts';
import { MAX_ROOMS } from '../../src/webhooks/dispatcher.ts';
import { DOWN_AFTER_FAILURES } from '../../src/webhooks/endpoint-monitor.ts';
import { MIN_ATTEMPTS } from '../../src/webhooks/queue/queue.ts';
import { manualClock } from '../support/manual-clock.ts';
import { runningClock } from '../support/running-clock.ts';
import { events, SECRET, startWebhookHarness } from './harness.ts';
import { event, poolLow, ref } from './queue/harness.ts';
import { answers, revisionsByRoom, startReceiver } from './receiver.ts';
import { verify } from './verify.ts';

const HOUR = 3_600_000;
const idsOf = (received: readonly { event: { id: string } }[]) => received.map((one) => one.event.id);

test('events are sent at once, each once, those of a room in order', async () => {
  await using receiver = await startReceiver();
  await using harness = await startWebhookHarness({ url: receiver.url, clock: systemClock });
  harness.append(...events(1, 0, 19), poolLow(1), ...events(2, 0, 19));
  await receiver.until(() => receiver.taken.length === 41);
  expect(new Set(receiver.taken).size).toBe(41);
  expect(Object.values(revisionsByRoom(receiver.received))).toEqual([
    Array.from({ length: 20 }, (_, rev) => rev),
    Array.from({ length: 20 }, (_, rev) => rev),
  ]);
  await harness.completed(41);
  expect(await harness.endpoint()).toMatchObject({
    origin: new URL(receiver.url).origin,
    pending: 0,
    dead: 0,
    lastDeliveredAt: expect.any(Number),
  });
});

test('only events of the configured types are sent', async () => {
  await using receiver = await startReceiver();
  const settings = { types: ['user_joined' as const] };
  await using harness = await startWebhookHarness({ url: receiver.url, clock: systemClock, settings });
  harness.append(event(1, 0), poolLow(1), event(1, 1, 'user_joined'), event(1, 2), event(1, 3, 'user_joined'));
  await receiver.until(() => receiver.taken.length === 2);
  expect(idsOf(receiver.received)).toEqual([event(1, 1).id, event(1, 3).id]);
});

test('a secret can be changed without a gap', async () => {
  const [older, newer] = [SECRET, 'the newer secret of these tests'];
  await using receiver = await startReceiver();
  await using harness = await startWebhookHarness({ url: receiver.url, clock: systemClock });
  const last = () => receiver.received.at(-1) ?? expect.unreachable();
  const sentBy = async (secrets: readonly string[], rev: number) => {
    const node = await harness.startNode({ secrets });
    harness.append(event(1, rev));
    await receiver.until(() => receiver.taken.length === rev + 1);
    await node.stop();
  };
  await harness.webhooks.stop();
  await sentBy([older], 0);
  verify(older, last().headers, last().body);
  await sentBy([newer, older], 1);
  verify(older, last().headers, last().body);
  verify(newer, last().headers, last().body);
  await sentBy([newer], 2);
  verify(newer, last().headers, last().body);
  expect(() => verify(older, last().headers, last().body)).toThrow();
});

describe('a failure', () => {
  test('holds back its own room, for 1 s, 2 s, 4 s', async () => {
    const clock = manualClock();
    await using receiver = await startReceiver();
    receiver.behave((response, { event: { ref: room } }) => answers(room === ref(1) ? 500 : 204)(response));
    await using harness = await startWebhookHarness({ url: receiver.url, clock });
    harness.append(...events(1, 0, 2), ...events(2, 0, 2));
    clock.advance(1_000);
    await harness.completed(4);
    for (const [failures, seconds] of [1, 2, 4].entries()) {
      expect(idsOf(receiver.received).filter((id) => id === event(1, 0).id)).toHaveLength(failures + 1);
      clock.advance((seconds - 1) * 1_000);
      harness.append(event(3 + failures, 0));
      clock.advance(999);
      // Barrier: events that were due are sent before this one, or with it.
      await harness.completed(5 + 2 * failures);
      expect(idsOf(receiver.received).filter((id) => id === event(1, 0).id)).toHaveLength(failures + 1);
      clock.advance(1);
      await harness.completed(6 + 2 * failures);
    }
    receiver.behave(answers(204));
    clock.advance(8_000);
    await receiver.until(() => receiver.taken.includes(event(1, 2).id));
    expect(revisionsByRoom(receiver.received)[ref(1)]).toEqual([0, 1, 2]);
    expect(await harness.endpoint()).toMatchObject({ dead: 0, lastError: { reason: 'answered 500' } });
  });

  test('that lasts a day makes a dead letter, which can be replayed', async () => {
    const clock = manualClock();
    const begun = clock.now();
    await using receiver = await startReceiver();
    receiver.behave(answers(500));
    await using harness = await startWebhookHarness({ url: receiver.url, clock });
    harness.append(event(1, 0));
    clock.advance(1_000);
    let attempts = 1;
    await harness.completed(attempts);
    while ((await harness.endpoint()).dead === 0) {
      expect(clock.now() - begun).toBeLessThan(26 * HOUR);
      clock.advance(HOUR);
      attempts += 1;
      await harness.completed(attempts);
    }
    expect(attempts).toBeGreaterThan(20);
    expect(idsOf(receiver.received)).toEqual(Array.from({ length: attempts }, () => event(1, 0).id));
    expect(await harness.webhooks.deadLetters(harness.id, { limit: 10 })).toEqual({
      letters: [{ event: event(1, 0), attempts, reason: 'answered 500', at: clock.now() }],
      cursor: null,
    });

    receiver.behave(answers(204));
    harness.append(event(1, 1));
    clock.advance(1_000);
    await receiver.until(() => receiver.taken.length === 1);
    expect(await harness.webhooks.replay(harness.id, { eventIds: [event(1, 0).id] })).toBe(1);
    await receiver.until(() => receiver.taken.length === 2);
    expect(receiver.taken).toEqual([event(1, 1).id, event(1, 0).id]);
    expect(await harness.webhooks.replay(harness.id)).toBe(0);
    await harness.completed(attempts + 2);
    expect(await harness.endpoint()).toMatchObject({ pending: 0, dead: 0, dropped: 0, lost: 0 });
  });

  test('of many events in a row makes the endpoint seem down: it is sent one event at a time', async () => {
    await using receiver = await startReceiver();
    let atOnce = 0;
    let most = 0;
    receiver.behave((response) => {
      atOnce += 1;
      most = Math.max(most, atOnce);
      response.once('close', () => {
        atOnce -= 1;
      });
      answers(503)(response);
    });
    using clock = runningClock(20);
    await using harness = await startWebhookHarness({ url: receiver.url, clock });
    const rooms = Array.from({ length: 3 * MAX_ROOMS }, (_, room) => event(room, 0));
    harness.append(...rooms);
    await harness.completed(MAX_ROOMS + DOWN_AFTER_FAILURES);
    expect(most).toBeLessThanOrEqual(MAX_ROOMS);
    most = 0;
    await harness.completed(rooms.length + DOWN_AFTER_FAILURES);
    expect(most).toBe(1);
    receiver.behave(answers(204));
    await receiver.until(() => receiver.taken.length === rooms.length);
    expect(new Set(receiver.taken).size).toBe(rooms.length);
  });
});

test('a receiver that fails at random and is restarted takes every event in the end, those of a room in order', async () => {
  await using receiver = await startReceiver();
  let requests = 0;
  receiver.behave((response) => {
    requests += 1;
    if (requests % 97 === 0) void receiver.restart();
    else if (requests % 5 === 0) answers(500)(response);
    else if (requests % 11 === 0) response.destroy();
    else answers(204)(response);
  });
  // Back-off of seconds is over soon.
  using clock = runningClock(20);
  await using harness = await startWebhookHarness({ url: receiver.url, clock });
  const [rooms, revisions] = [40, 5];
  for (let rev = 0; rev < revisions; rev += 1)
    harness.append(...Array.from({ length: rooms }, (_, room) => event(room, rev)));
  await receiver.until(() => new Set(receiver.taken).size === rooms * revisions);
  const inOrder = Array.from({ length: revisions }, (_, rev) => rev);
  expect(revisionsByRoom(receiver.received)).toEqual(
    Object.fromEntries(Array.from({ length: rooms }, (_, room) => [ref(room), inOrder])),
  );
  // No event of a room overtakes one that has failed.
  const taken = [...new Set(receiver.taken)];
  for (let room = 0; room < rooms; room += 1)
    expect(taken.filter((id) => id.startsWith(`${ref(room)}:`))).toEqual(
      events(room, 0, revisions - 1).map(({ id }) => id),
    );
});

test('several nodes share the events; in normal operation none is sent twice', async () => {
  await using receiver = await startReceiver();
  await using harness = await startWebhookHarness({ url: receiver.url, clock: systemClock });
  const others = await Promise.all([harness.startNode(), harness.startNode()]);
  for (let rev = 0; rev < 20; rev += 1) harness.append(...Array.from({ length: 50 }, (_, room) => event(room, rev)));
  await receiver.until(() => receiver.taken.length === 1_000);
  expect(new Set(idsOf(receiver.received)).size).toBe(receiver.received.length);
  await Promise.all(others.map((node) => node.stop()));
});

test('the log says where and why a delivery failed, without secrets', async () => {
  const lines: string[] = [];
  const log = createLog('debug', { write: (line: string) => void lines.push(line) });
  const clock = manualClock();
  await using receiver = await startReceiver();
  receiver.behave(answers(500));
  const url = receiver.url.replace('//', '//anna:hidden@').replace('/hooks', '/hooks/hidden?hidden');
  await using harness = await startWebhookHarness({ url, clock, log, settings: { giveUpMs: 0 } });
  harness.append(event(1, 0));
  for (let attempt = 1; attempt <= MIN_ATTEMPTS; attempt += 1) {
    clock.advance(HOUR);
    await harness.completed(attempt);
  }
  await harness.webhooks.stop();
  const text = lines.join('');
  expect(text).toContain('an event is given up: a dead letter');
  expect(text).toContain(new URL(url).origin);
  for (const secret of ['hidden', SECRET, 'anna', event(1, 0).id]) expect(text).not.toContain(secret);
  expect(JSON.stringify(await harness.webhooks.endpoints())).not.toMatch(/hidden|anna/);
});

test('an endpoint that is not configured has no dead letters', async () => {
  await using receiver = await startReceiver();
  await using harness = await startWebhookHarness({ url: receiver.url, clock: systemClock });
  expect(await harness.webhooks.deadLetters('nobody', { limit: 1 })).toBeUndefined();
  expect(await harness.webhooks.replay('nobody')).toBeUndefined();
  expect(await harness.webhooks.deadLetters(harness.id, { limit: 1, cursor: 'nonsense' })).toBeUndefined();
});
