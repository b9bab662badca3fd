/** A close that the server begins is over soon, whatever the client does: it has a second for its part of it. */
import { describe, expect, test } from 'vitest';
import { connectClient } from '../../support/client.ts';
import { type Nodes, startNodes } from '../../support/nodes.ts';
import { frame, OPCODE, RawSocket } from '../../support/raw-socket.ts';
import { retry } from '../../support/retry.ts';

/** Half of what `ws` and polling wait by themselves. */
const LATEST_MS = 15_000;

const start = (options = {}) => startNodes({ kind: 'memory', count: 1 }, options);
const portOf = (nodes: Nodes): number => nodes.servers[0]?.port ?? 0;

async function timed(work: Promise<unknown>): Promise<number> {
  const from = performance.now();
  await work;
  return performance.now() - from;
}

describe('a client that ignores the close is ended', () => {
  test.each([
    ['when it sends no handshake', async () => {}],
    ['when its handshake is not JSON', async (socket: RawSocket) => socket.send('40{')],
    ['when it breaks the protocol of the WebSocket', async (socket: RawSocket) => socket.write(Buffer.alloc(8, 0xff))],
    ['when it leaves its namespace', async (socket: RawSocket) => socket.send('40{"v":1}41')],
    ['when it closes half-way', async (socket: RawSocket) => socket.write(frame(OPCODE.close, Buffer.alloc(0)))],
  ])('%s', async (_, begin) => {
    await using nodes = await start({ connectTimeoutMs: 200 });
    await using socket = await RawSocket.open(portOf(nodes));
    socket.answersClose = false;
    await begin(socket);
    expect(await timed(socket.end())).toBeLessThan(LATEST_MS);
  });

  test('when it is kicked', async () => {
    await using nodes = await start();
    await using host = await connectClient(nodes.url(0));
    const { room } = await host.must('room:create');
    await using guest = await RawSocket.join(portOf(nodes));
    await guest.ask('room:join', { code: room.code });
    guest.answersClose = false;
    await host.must('room:kick', { userId: guest.userId });
    expect(await timed(guest.end())).toBeLessThan(LATEST_MS);
  });
});

/** A member that does not read, and megabytes that wait for it. */
async function stalledMember(nodes: Nodes) {
  const host = await connectClient(nodes.url(0));
  const { room } = await host.must('room:create');
  const stalled = await RawSocket.join(portOf(nodes));
  await stalled.ask('room:join', { code: room.code });
  stalled.stopReading();
  stalled.answersClose = false;
  const data = 'x'.repeat(60_000);
  for (let sent = 0; sent < 200; sent += 1) await host.must('signal', { to: stalled.userId, data });
  return { host, stalled };
}

const UNBOUNDED = { outboundBytes: 2 ** 30, outboundMessages: 1_000_000 };

test('a member that does not read is ended when it is kicked', async () => {
  await using nodes = await start(UNBOUNDED);
  const { host, stalled } = await stalledMember(nodes);
  await host.must('room:kick', { userId: stalled.userId });
  // It does not read the end either: writing tells it.
  const closed = retry(async () => {
    stalled.send('3');
    expect(stalled.open).toBe(false);
  });
  expect(await timed(closed)).toBeLessThan(LATEST_MS);
  await host[Symbol.asyncDispose]();
});

test('a member that does not read does not hold a shutdown', async () => {
  await using nodes = await start(UNBOUNDED);
  const { host, stalled } = await stalledMember(nodes);
  expect(await timed(Promise.all(nodes.servers.map((server) => server.close())))).toBeLessThan(LATEST_MS);
  await stalled[Symbol.asyncDispose]();
  await host[Symbol.asyncDispose]();
});
