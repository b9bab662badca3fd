/** Backpressure: a client that does not read loses its own connection, and no other is affected. */
import { expect, test } from 'vitest';
import { connectClient } from '../../support/client.ts';
import { startNodes } from '../../support/nodes.ts';
import { RawSocket } from '../../support/raw-socket.ts';

/** More than the socket buffers and the server's queue can hold. */
const MAX_SIGNALS = 1000;
const BODY = 'x'.repeat(60_000);

test('a client that stops reading is closed when too many bytes wait for it', async () => {
  await using nodes = await startNodes({ kind: 'memory', count: 1 });
  await using host = await connectClient(nodes.url(0));
  const { room } = await host.must('room:create');
  await using stalled = await RawSocket.join(nodes.servers[0]?.port ?? 0);
  await stalled.ask('room:join', { code: room.code });
  stalled.stopReading();
  let answer = 'ok';
  for (let sent = 0; sent < MAX_SIGNALS && answer === 'ok'; sent += 1) {
    const reply = await host.ask('signal', { to: stalled.userId, data: BODY });
    answer = reply.ok ? 'ok' : reply.error.code;
  }
  expect(answer).toBe('PEER_AWAY');
  expect((await host.next('member:away')).userId).toBe(stalled.userId);
});

test('a client that reads is not closed, however many bytes it receives', async () => {
  await using nodes = await startNodes({ kind: 'memory', count: 1 });
  await using host = await connectClient(nodes.url(0));
  await using guest = await connectClient(nodes.url(0));
  const { room } = await host.must('room:create');
  await guest.must('room:join', { code: room.code });
  for (let sent = 0; sent < 200; sent += 1) await host.must('signal', { to: guest.userId, data: BODY });
  await host.must('signal', { to: guest.userId, data: 'last' });
  await guest.next('signal', ({ data }) => data === 'last');
});

test('a burst of many small messages closes no connection', async () => {
  await using nodes = await startNodes({ kind: 'memory', count: 1 });
  await using host = await connectClient(nodes.url(0));
  await using guest = await connectClient(nodes.url(0));
  const { room } = await host.must('room:create');
  await guest.must('room:join', { code: room.code });
  for (let sent = 0; sent < 900; sent += 1) host.socket.emit('signal', { to: guest.userId, data: sent });
  await guest.next('signal', ({ data }) => data === 899);
  expect(guest.all('signal').map(({ data }) => data)).toEqual(Array.from({ length: 900 }, (_, at) => at));
});
