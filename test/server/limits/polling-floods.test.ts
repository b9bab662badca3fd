/** Polling: one request may carry thousands of packets, which are counted as those of a WebSocket are. */
import { once } from 'node:events';
import { get, type IncomingMessage, type OutgoingHttpHeaders } from 'node:http';
import { expect, test } from 'vitest';
import { connectClient } from '../../support/client.ts';
import { startNodes } from '../../support/nodes.ts';
import { retry } from '../../support/retry.ts';

const SEPARATOR = '\u001e';
const flood = (packet: string) => Array.from({ length: 5000 }, () => packet).join(SEPARATOR);

class Polling {
  private readonly address: string;
  private constructor(address: string) {
    this.address = address;
  }

  static async open(url: string): Promise<Polling> {
    const address = `${url}/socket.io/?EIO=4&transport=polling`;
    const { sid } = JSON.parse((await (await fetch(address)).text()).slice(1)) as { sid: string };
    return new Polling(`${address}&sid=${sid}`);
  }

  async poll(): Promise<string> {
    return (await fetch(this.address)).text();
  }

  /** The status; `ended` when the connection was destroyed under the request. */
  async post(body: string): Promise<number | 'ended'> {
    return fetch(this.address, { method: 'POST', body }).then(
      ({ status }) => status,
      () => 'ended',
    );
  }

  /** Resolves when the session is unknown. */
  async ended(): Promise<void> {
    await retry(async () => expect(await this.post('3')).toBe(400));
  }

  async connect(): Promise<void> {
    await this.post('40{"v":1}');
    while (!(await this.poll()).includes('"welcome"'));
  }
}

const POLLING = { transports: ['polling', 'websocket'] as ('polling' | 'websocket')[] };
const LIMITS = { eventsPerSecond: 20, eventsBurst: 100, strikes: 10 };

test.each([
  ['pongs before the handshake', '3', async () => {}],
  ['pongs with a session', '3', (client: Polling) => client.connect()],
  ['events with a session', '42["ice"]', (client: Polling) => client.connect()],
  [
    'noops after the end of the session, which the client does not fetch',
    '6',
    async (client: Polling) => {
      await client.connect();
      await client.post('41');
    },
  ],
])('a flood of %s ends its session', async (_, packet, bring) => {
  await using nodes = await startNodes({ kind: 'memory', count: 1 }, { ...POLLING, ...LIMITS });
  await using witness = await connectClient(nodes.url(0));
  const client = await Polling.open(nodes.url(0));
  await bring(client);
  await client.post(flood(packet));
  expect(await client.post('3')).toBe(400);
  await witness.must('ice');
});

test('a session that has ended is forgotten, although its client does not fetch the close', async () => {
  await using nodes = await startNodes({ kind: 'memory', count: 1 }, POLLING);
  const client = await Polling.open(nodes.url(0));
  await client.connect();
  await client.post('41');
  await client.ended();
});

test('a session that begins with polling and is upgraded keeps the limit of a session', async () => {
  await using nodes = await startNodes({ kind: 'memory', count: 1 }, { ...POLLING, ...LIMITS });
  await using client = await connectClient(nodes.url(0), {}, { transports: ['polling', 'websocket'] });
  await expect.poll(() => client.socket.io.engine.transport.name).toBe('websocket');
  const replies = await Promise.all(Array.from({ length: 50 }, () => client.ask('ice')));
  expect(replies.every(({ ok }) => ok)).toBe(true);
});

test.each([
  ['an empty session id', '&sid=', {}],
  ['two session ids, of which the last is empty', '&sid=x&sid=', {}],
  ['a header that asks for an upgrade, without being one', '', { upgrade: 'websocket' }],
])('a handshake with %s is held back as others are', async (_, query, headers) => {
  await using nodes = await startNodes({ kind: 'memory', count: 1 }, { ...POLLING, ...LIMITS, drainMs: 200 });
  const port = nodes.servers[0]?.port ?? 0;
  // Floods count most: far more in a second than is forgiven in one, on a slow machine too.
  const flooders = await Promise.all(Array.from({ length: 40 }, () => Polling.open(nodes.url(0))));
  await Promise.all(flooders.map((flooder) => flooder.post(flood('3'))));
  // The queue of an address has a hundred places.
  const path = `/socket.io/?EIO=4&transport=polling${query}`;
  const statuses = await Promise.all(Array.from({ length: 150 }, () => statusOf(port, path, headers)));
  expect(statuses).toContain(429);
  expect(statuses).toContain(200);
});

/** Not by `fetch`, which does not send such a header. */
async function statusOf(port: number, path: string, headers: OutgoingHttpHeaders): Promise<number | undefined> {
  const [response] = (await once(get({ port, host: '127.0.0.1', path, headers, agent: false }), 'response')) as [
    IncomingMessage, // the types of events are lost
  ];
  response.resume();
  return response.statusCode;
}
