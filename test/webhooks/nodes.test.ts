/** Webhooks of whole servers: events reach the receiver in order, from whichever node, even when that node dies. */
import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { createServer } from '../../src/index.ts';
import { createLog } from '../../src/support/log.ts';
import { MIN_ATTEMPTS } from '../../src/webhooks/queue/queue.ts';
import { connectClient } from '../support/client.ts';
import { eventually, startFleet } from '../support/fleet.ts';
import { startNodes, TOPOLOGIES } from '../support/nodes.ts';
import { SECRET } from './harness.ts';
import { answers, type Received, type Receiver, revisionsByRoom, startReceiver } from './receiver.ts';
import { verify } from './verify.ts';

const ADMIN_TOKEN = 'the-operator-of-these-tests';

const optionsFor = ({ url }: Receiver) => ({
  webhookUrls: [url],
  webhookSecrets: [SECRET],
  webhookAllowPrivate: true,
});

const endings = (received: readonly Received[]) => received.filter(({ event }) => event.type === 'room_destroyed');

/** A room in which two members meet. @returns the events that back ends must be sent. */
async function meet(hostUrl: string, guestUrl: string): Promise<string[]> {
  await using host = await connectClient(hostUrl, { name: 'Änne "A" O’Neill' });
  await using guest = await connectClient(guestUrl);
  const { room } = await host.must('room:create', { metadata: { lesson: 'Übung' } });
  await guest.must('room:join', { code: room.code });
  await guest.must('profile', { name: 'Bert' });
  await host.must('room:update', { name: 'Kurs' });
  await host.must('room:close');
  return [
    `${room.ref}:0 room_created`,
    `${room.ref}:1 user_joined`,
    `${room.ref}:2 user_joined`,
    `${room.ref}:3 user_updated`,
    `${room.ref}:4 room_updated`,
    `${room.ref}:5 user_left`,
    `${room.ref}:6 user_left`,
    `${room.ref}:7 room_destroyed`,
  ];
}

describe.each(TOPOLOGIES)('$name', (topology) => {
  test('events of rooms are posted once, in order, with a signature', async () => {
    await using receiver = await startReceiver();
    await using nodes = await startNodes(topology, optionsFor(receiver));
    const expected = await Promise.all(
      Array.from({ length: 5 }, (_, number) => meet(nodes.url(number), nodes.url(number + 1))),
    );
    await receiver.until(() => endings(receiver.received).length === expected.length);
    const told = receiver.received.map(({ event }) => `${event.id} ${event.type}`);
    expect(told.toSorted()).toEqual(expected.flat().toSorted());
    for (const room of expected) expect(told.filter((line) => room.includes(line))).toEqual(room);
    for (const { headers, body, event } of receiver.received) {
      verify(SECRET, headers, body);
      expect(headers['webhook-id']).toBe(event.id);
    }
    const updated = receiver.received.find(({ event }) => event.type === 'user_joined' && event.rev === 1);
    expect(updated?.event).toMatchObject({ member: { name: 'Änne "A" O’Neill', role: 'host' } });
  });
});

// The rest mostly waits for the next attempt or for the end of a lease, side by side.
test.concurrent('operators can list and replay dead letters on any node', async () => {
  await using receiver = await startReceiver();
  receiver.behave(answers(500));
  const few = { webhookEvents: ['room_created' as const], webhookGiveUpMs: 0, adminToken: ADMIN_TOKEN };
  await using nodes = await startNodes({ kind: 'redis', count: 2 }, { ...optionsFor(receiver), ...few });
  const [expected] = await meet(nodes.url(0), nodes.url(0));
  const ask = async (node: number, path: string, method = 'GET') => {
    const headers = { authorization: `Bearer ${ADMIN_TOKEN}`, 'content-type': 'application/json' };
    const body = method === 'POST' ? '{}' : null;
    const response = await fetch(`${nodes.url(node)}/v1/webhooks${path}`, { method, headers, body });
    return z.record(z.string(), z.unknown()).parse(await response.json());
  };
  const list = z.tuple([z.looseObject({ id: z.string(), dead: z.int(), pending: z.int() })]);
  const endpoint = async () => list.parse((await ask(1, ''))['endpoints'])[0];
  await eventually(async () => (await endpoint()).dead === 1);
  expect(await endpoint()).toMatchObject({
    origin: new URL(receiver.url).origin,
    lastError: { reason: 'answered 500' },
  });
  expect(JSON.stringify(await endpoint())).not.toContain('/hooks');
  const { id } = await endpoint();
  const told = { id: expected?.split(' ')[0], type: 'room_created', rev: 0 };
  expect(await ask(1, `/${id}/dead`)).toMatchObject({
    letters: [{ event: told, attempts: MIN_ATTEMPTS }],
    cursor: null,
  });

  receiver.behave(answers(204));
  expect(await ask(1, `/${id}/replay`, 'POST')).toEqual({ replayed: 1 });
  await receiver.until(() => receiver.taken.length === 1);
  await eventually(async () => (await endpoint()).pending === 0);
  expect(await endpoint()).toMatchObject({ dead: 0, lost: 0 });
});

test.concurrent('a server that stops leaves no request open', async () => {
  await using receiver = await startReceiver();
  receiver.behave(() => {});
  const server = await createServer({ host: '127.0.0.1', port: 0, demo: false, drainMs: 100, ...optionsFor(receiver) });
  await meet(server.url, server.url);
  await receiver.until(() => receiver.received.length === 1);
  await server.close();
  await turn();
  expect(receiver.received).toHaveLength(1);
});

describe.concurrent('each event is sent at least once', () => {
  const leases = { webhookTimeoutMs: 1_000, webhookAllowPrivate: true };

  test('when a node is killed during a request, another node sends that event again, and goes on', async () => {
    await using receiver = await startReceiver();
    let open = 0;
    receiver.behave(() => {
      open += 1;
    });
    await using fleet = await startFleet(2, { ...optionsFor(receiver), ...leases });
    const [victim, survivor] = [fleet.node(0), fleet.node(1)];
    // Only the victim's dispatcher is woken at once, so the victim sends the event.
    const expected = await meet(victim.url, victim.url);
    await receiver.until(() => open === 1);
    await victim.child.kill();
    receiver.behave(answers(204));
    await receiver.until(() => endings(receiver.received).length === 1);
    const told = receiver.received.map(({ event }) => `${event.id} ${event.type}`);
    expect(told).toEqual([expected[0], ...expected]);
    expect(survivor.child.running).toBe(true);
  });

  test('when the store freezes during a request, every event is sent in the end', async () => {
    await using receiver = await startReceiver();
    let answer = (): void => expect.unreachable();
    receiver.behave((response) => {
      answer = () => answers(204)(response);
    });
    const { log, logged } = capturedLog();
    const options = { ...optionsFor(receiver), ...leases };
    await using nodes = await startNodes({ kind: 'redis', count: 1 }, options, { log });
    const expected = await meet(nodes.url(0), nodes.url(0));
    await receiver.until(() => receiver.received.length === 1);
    receiver.behave(answers(204));
    nodes.redis?.freeze();
    answer();
    await logged('the queue of webhooks does not work');
    nodes.redis?.thaw();
    await receiver.until(() => endings(receiver.received).length === 1);
    expect(Object.values(revisionsByRoom(receiver.received))).toEqual([expected.map((_, rev) => rev)]);
  });
});

/** A log, and a promise for one of its lines. */
function capturedLog() {
  const lines: string[] = [];
  const waiting = new Set<() => void>();
  const write = (line: string) => {
    lines.push(line);
    for (const look of waiting) look();
  };
  return {
    log: createLog('info', { write }),
    logged: (text: string) =>
      new Promise<void>((resolve) => {
        const look = () => {
          if (lines.some((line) => line.includes(text))) resolve();
        };
        waiting.add(look);
        look();
      }),
  };
}
