/** Backpressure: a client that does not read loses its own connection, and no other is affected. */
import { EventEmitter } from 'node:events';
import { expect, test } from 'vitest';
import { createBackpressure, type OutboundConnection } from '../../../src/server/limits/backpressure.ts';
import { connectClient } from '../../support/client.ts';
import { manualClock } from '../../support/manual-clock.ts';
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

test('what waits in the WebSocket and its TCP socket counts together with what waits in Engine.IO', () => {
  const clock = manualClock();
  const bounds = { outboundBytes: 1_000, outboundMessages: 100 };
  const watch = createBackpressure(bounds, clock);
  const closedAfter = (bufferedAmount: number, waiting: number): boolean => {
    const events = new EventEmitter();
    let closed = false;
    const connection: OutboundConnection = {
      writeBuffer: Array.from({ length: waiting }, () => ({ data: 'x'.repeat(50) })),
      transport: { socket: { bufferedAmount } },
      on: (event, listener) => events.on(event, () => listener.call(connection)),
      close: () => {
        closed = true;
      },
    };
    watch(connection);
    events.emit('packetCreate');
    clock.advance(2_000);
    return closed;
  };
  expect(closedAfter(1_001, 0)).toBe(true);
  expect(closedAfter(601, 8)).toBe(true);
  expect(closedAfter(600, 8)).toBe(false);
  expect(closedAfter(1_000, 0)).toBe(false);
});
