/** Control frames: a few are free, and a flood ends its connection. */
import { expect, test } from 'vitest';
import { connectClient } from '../../support/client.ts';
import { startNodes } from '../../support/nodes.ts';
import { OPCODE, RawSocket } from '../../support/raw-socket.ts';

const MASKED_EMPTY = (opcode: number) => Buffer.from([0x80 | opcode, 0x80, 0, 0, 0, 0]);

test.each([
  ['pongs of the transport', (socket: RawSocket) => socket.send('3')],
  ['pings of the WebSocket', (socket: RawSocket) => socket.write(MASKED_EMPTY(OPCODE.ping))],
  ['pongs of the WebSocket', (socket: RawSocket) => socket.write(MASKED_EMPTY(OPCODE.pong))],
])('a flood of %s ends its connection, and no other', async (_name, send) => {
  await using nodes = await startNodes({ kind: 'memory', count: 1 });
  await using witness = await connectClient(nodes.url(0));
  await using flooder = await RawSocket.join(nodes.servers[0]?.port ?? 0);
  for (let frame = 0; frame < 100; frame += 1) send(flooder);
  await flooder.end();
  await witness.must('ice');
});

test('a client over its budget is cut when it ignores the close', async () => {
  await using nodes = await startNodes(
    { kind: 'memory', count: 1 },
    { eventsPerSecond: 1, eventsBurst: 1, strikes: 2 },
  );
  await using flooder = await RawSocket.join(nodes.servers[0]?.port ?? 0);
  for (let frame = 0; frame < 10; frame += 1) flooder.send('42["ice",{}]');
  await flooder.end();
});

test('a few control frames a second are allowed', async () => {
  await using nodes = await startNodes({ kind: 'memory', count: 1 });
  await using client = await RawSocket.join(nodes.servers[0]?.port ?? 0);
  for (let frame = 0; frame < 10; frame += 1) client.send('3');
  expect(await client.ask('ice', {})).toMatchObject({ ok: true });
});
