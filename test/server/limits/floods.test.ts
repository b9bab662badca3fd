/** Floods of frames in every state of a connection: it is ended, and others do not notice. */
import { expect, test } from 'vitest';
import { connectClient } from '../../support/client.ts';
import { startNodes } from '../../support/nodes.ts';
import { frame, OPCODE, RawSocket } from '../../support/raw-socket.ts';
import { startAttackTarget } from './attack-harness.ts';

const ATTACKERS = 10;
/** More than an address may have within a few seconds. */
const MAX_FAILURES = 2000;
const CHUNK_BYTES = 64 * 1024;

const target = startAttackTarget({ eventsPerSecond: 200, eventsBurst: 400, strikes: 10 });

const text = (content: string) => frame(OPCODE.text, Buffer.from(content));
const repeated = (bytes: Buffer) => Buffer.concat(Array.from({ length: CHUNK_BYTES / bytes.length }, () => bytes));

const FLOODS = [
  ['pongs of the transport', text('3')],
  ['noops of the transport', text('6')],
  ['upgrades of the transport', text('5')],
  ['probes', text('3probe')],
  ['empty messages', text('')],
  ['pings of the WebSocket', frame(OPCODE.ping, Buffer.alloc(0))],
  ['pongs of the WebSocket', frame(OPCODE.pong, Buffer.alloc(0))],
  ['fragments without an end', frame(OPCODE.continuation, Buffer.alloc(0), { final: false })],
  ['binary messages', frame(OPCODE.binary, Buffer.alloc(0))],
  ['events', text('42["ice"]')],
  ['compressed frames, which were not negotiated', Buffer.from([0xc1, 0x81, 0, 0, 0, 0, 0x33])],
  ['frames under a mask', Buffer.from([0x81, 0x81, 1, 2, 3, 4, 0x32])],
  ['bytes that are no frames', Buffer.alloc(64, 0xff)],
] as const;

const STATES = [
  ['before its handshake', async (_socket: RawSocket) => {}],
  ['with a session', (socket: RawSocket) => connect(socket)],
  ['whose handshake was refused', (socket: RawSocket) => refused(socket)],
  ['after an error of its protocol', async (socket: RawSocket) => socket.send('4garbage')],
  [
    'after the end of its session',
    async (socket: RawSocket) => {
      await connect(socket);
      socket.send('41');
    },
  ],
] as const;

async function connect(socket: RawSocket): Promise<void> {
  socket.send('40{"v":1}');
  await socket.next(/^42\["welcome"/);
}

async function refused(socket: RawSocket): Promise<void> {
  socket.send('40{"v":99}');
  await socket.next(/^44/);
}

test.each(STATES)('a connection %s is ended for a flood of any kind', async (_state, bring) => {
  await Promise.all(
    FLOODS.map(async ([kind, bytes]) => {
      await using attacker = await RawSocket.open(target.port);
      await bring(attacker);
      if (kind.startsWith('fragments')) attacker.write(frame(OPCODE.text, Buffer.alloc(0), { final: false }));
      await attacker.flood(repeated(bytes)).catch((error: unknown) => {
        throw new Error(`a flood of ${kind}`, { cause: error });
      });
    }),
  );
});

test('handshakes of an address whose connections keep failing are held back, and succeed', async () => {
  const isHeldBack = () => target.server.logs().some(({ msg }) => msg.startsWith('handshakes are held back'));
  for (let opened = 0; opened < MAX_FAILURES && !isHeldBack(); opened += ATTACKERS) {
    const half = await Promise.all(Array.from({ length: ATTACKERS }, () => RawSocket.open(target.port)));
    await Promise.all(half.map((socket) => socket[Symbol.asyncDispose]()));
  }
  expect(isHeldBack()).toBe(true);
  await using honest = await connectClient(target.server.url);
  await honest.must('ice');
});

test('a few control frames a second are allowed', async () => {
  await using client = await RawSocket.join(target.port);
  for (let sent = 0; sent < 10; sent += 1) client.send('3');
  expect(await client.ask('ice', {})).toMatchObject({ ok: true });
});

test('a message in a few fragments is allowed', async () => {
  await using client = await RawSocket.join(target.port);
  client.write(frame(OPCODE.text, Buffer.from('421["ic'), { final: false }));
  client.write(frame(OPCODE.continuation, Buffer.from('e",'), { final: false }));
  client.write(frame(OPCODE.ping, Buffer.from('between')));
  client.write(frame(OPCODE.continuation, Buffer.from('{}]')));
  await client.next(/^431\[\{"ok":true/);
});

test('a client over its budget hears the refusals, and is cut when it ignores the close', async () => {
  await using nodes = await startNodes(
    { kind: 'memory', count: 1 },
    { eventsPerSecond: 1, eventsBurst: 1, strikes: 2 },
  );
  await using flooder = await RawSocket.join(nodes.servers[0]?.port ?? 0);
  flooder.answersClose = false;
  for (let sent = 1; sent <= 3; sent += 1) flooder.send(`42${sent}["ice",{}]`);
  await flooder.next(/^433\[.*RATE_LIMITED/);
  await flooder.end();
});
