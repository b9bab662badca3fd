/** Frames that no client library sends: a frame that cannot be answered ends the connection of its sender only. */
import { describe, expect, test } from 'vitest';
import { frame, OPCODE, RawSocket } from '../../support/raw-socket.ts';
import { expectAlive, startAttackTarget } from './attack-harness.ts';

const target = startAttackTarget();
const join = () => RawSocket.join(target.port);
const open = () => RawSocket.open(target.port);

const nested = (depth: number, open = '[', close = ']') => open.repeat(depth) + close.repeat(depth);
const unknownId = 'nobody';

describe('nesting', () => {
  test('5,000 levels are refused, and the connection stays usable', async () => {
    await using attacker = await join();
    for (const bomb of [nested(5000), `${nested(5000, '{"a":', '}').replace(':}', ':0}')}`, '['.repeat(5000)]) {
      const answer = await attacker.askText(`["signal",{"to":"${unknownId}","data":${bomb}}]`);
      expect(answer).toMatchObject({ ok: false, error: { code: 'BAD_REQUEST', message: 'Nested deeper than 12.' } });
    }
    await expectAlive(attacker);
  });

  test('12 levels in data are accepted, 13 are refused', async () => {
    await using attacker = await join();
    const [peer] = target.witness.peers;
    const { room } = await peer.must('room:get');
    expect(await attacker.ask('room:join', { code: room.code })).toMatchObject({ ok: true });
    const send = (depth: number) => attacker.askText(`["signal",{"to":"${peer.userId}","data":${nested(depth)}}]`);
    expect(await send(12)).toEqual({ ok: true });
    expect(await peer.next('signal', ({ from }) => from === attacker.userId)).toMatchObject({
      data: JSON.parse(nested(12)),
    });
    expect(await send(13)).toMatchObject({ ok: false, error: { code: 'BAD_REQUEST' } });
    const objects = nested(13, '{"a":', '}').replace(':}', ':0}');
    expect(await attacker.askText(`["signal",{"to":"${peer.userId}","data":${objects}}]`)).toMatchObject({
      error: { code: 'BAD_REQUEST' },
    });
  });

  test('brackets inside strings do not count as nesting', async () => {
    await using attacker = await join();
    const text = `${'['.repeat(5000)}\\"${'{'.repeat(5000)}\\\\`;
    const answer = await attacker.askText(`["signal",{"to":"${unknownId}","data":"${text}"}]`);
    expect(answer).toMatchObject({ ok: false, error: { code: 'NOT_IN_ROOM' } });
  });

  test('a deeply nested handshake ends the connection', async () => {
    await using attacker = await open();
    attacker.send(`40{"v":1,"name":${nested(5000)}}`);
    await attacker.end();
  });
});

describe('binary', () => {
  test('an event with attachments is refused, and the attachments are dropped', async () => {
    await using attacker = await join();
    attacker.send('452-7["signal",{"to":"x","data":[{"_placeholder":true,"num":0},{"_placeholder":true,"num":1}]}]');
    attacker.sendBinary(Buffer.alloc(1000));
    attacker.sendBinary(Buffer.alloc(0));
    expect(await attacker.next(/^437\[/)).toContain('BAD_REQUEST');
    await expectAlive(attacker);
  });

  test.each([
    ['a frame that belongs to no event', (it: RawSocket) => it.sendBinary(Buffer.alloc(1000))],
    [
      'one frame more than was announced',
      (it: RawSocket) => {
        it.send('451-["signal",{"_placeholder":true,"num":0}]');
        it.sendBinary(Buffer.alloc(10));
        it.sendBinary(Buffer.alloc(10));
      },
    ],
    ['a binary frame in base64', (it: RawSocket) => it.send('bAAAA')],
    ['an acknowledgement with attachments', (it: RawSocket) => it.send('461-1[{"_placeholder":true,"num":0}]')],
  ])('%s ends the connection', async (_, attack) => {
    await using attacker = await join();
    attack(attacker);
    await attacker.end();
  });
});

describe('packets of Socket.IO', () => {
  test.each([
    ['an unknown type', '49["x"]'],
    ['a packet without a type', '4'],
    ['invalid JSON', '42[not json'],
    ['an object instead of an array', '42{"name":"signal"}'],
    ['an empty array', '42[]'],
    ['an object as the name', '42[{"name":"signal"},{}]'],
    ['null as the name', '42[null,{}]'],
    ['a name that Socket.IO reserves', '421["disconnect",{}]'],
    ['an event with the name connect', '421["connect",{}]'],
    ['an event for a namespace without a CONNECT', '42/admin,["room:leave",{}]'],
    ['an acknowledgement without a request', '430[{}]'],
    ['an acknowledgement with an endless id', `43${'9'.repeat(400)}[{}]`],
    ['an acknowledgement with an object', '431{"ok":true}'],
    ['a CONNECT_ERROR, which only servers send', '44{"message":"no"}'],
    ['a DISCONNECT with a payload', '41{"why":1}'],
    ['a DISCONNECT', '41'],
    ['a second CONNECT', '40{"v":1}'],
    ['a second CONNECT by its full name', '40/,{"v":1}'],
  ])('%s ends the connection', async (_, text) => {
    await using attacker = await join();
    attacker.send(text);
    await attacker.end();
  });

  test.each([
    ['an event before CONNECT', '42["room:create",{}]'],
    ['a bomb before CONNECT', `42["signal",{"data":${nested(5000)}}]`],
    ['auth that is null', '40null'],
    ['auth that is a list', '40[1]'],
    ['auth that is not JSON', '40{'],
  ])('%s ends the connection', async (_, text) => {
    await using attacker = await open();
    attacker.send(text);
    await attacker.end();
  });

  test('an unknown namespace is refused; the fifth one ends the connection', async () => {
    await using attacker = await join();
    for (const name of ['admin', '__proto__', 'constructor', 'a?b=1']) {
      attacker.send(`40/${name},{}`);
      await attacker.next(new RegExp(`^44/${name.replace('?', '\\?')},.*Invalid namespace`));
    }
    await expectAlive(attacker);
    attacker.send('40/again,{}');
    await attacker.end();
  });

  test('fifty CONNECTs in one write open one session at most', async () => {
    await using attacker = await open();
    attacker.write(Buffer.concat(Array.from({ length: 50 }, () => frame(OPCODE.text, Buffer.from('40{"v":1}')))));
    await attacker.end();
    expect(attacker.texts.filter((text) => text.startsWith('42["welcome"')).length).toBeLessThanOrEqual(1);
  });

  test('a CONNECT after a DISCONNECT in the same write ends the connection', async () => {
    await using attacker = await join();
    attacker.write(Buffer.concat(['41', '40{"v":1}'].map((text) => frame(OPCODE.text, Buffer.from(text)))));
    await attacker.end();
  });

  test('an acknowledgement id of any size is returned as it came', async () => {
    await using attacker = await join();
    attacker.send(`42${Number.MAX_SAFE_INTEGER}["room:leave",{}]`);
    await attacker.next(new RegExp(`^43${Number.MAX_SAFE_INTEGER}\\[`));
    attacker.send(`42${'9'.repeat(400)}["room:leave",{}]`);
    await attacker.next(/^439{400}\[/);
    attacker.send(`42${'9'.repeat(400)}["signal",{"data":${nested(5000)}}]`);
    await expectAlive(attacker);
  });
});

describe('packets of Engine.IO and WebSocket', () => {
  test.each([
    ['an empty message', ''],
    ['an unknown type', '9'],
    ['a letter', 'x'],
    ['a ping, which only servers send', '2'],
  ])('%s ends the connection', async (_, text) => {
    await using attacker = await join();
    attacker.send(text);
    await attacker.end();
  });

  test('a packet that Engine.IO does not expect is ignored', async () => {
    await using attacker = await join();
    for (const text of ['1', '3', '3probe', '5', '6']) attacker.send(text);
    await expectAlive(attacker);
  });

  test.each([
    ['a frame without a mask', frame(OPCODE.text, Buffer.from('3'), { masked: false })],
    ['an unknown opcode', frame(11, Buffer.from('3'))],
    ['a continuation without a first frame', frame(OPCODE.continuation, Buffer.from('3'))],
    ['reserved bits', Buffer.from([0xf1, 0x81, 0, 0, 0, 0, 0x33])],
    ['text that is not UTF-8', frame(OPCODE.text, Buffer.from([0x34, 0xff, 0xfe]))],
    ['a ping that is too long', frame(OPCODE.ping, Buffer.alloc(126))],
    ['a close with half a code', frame(OPCODE.close, Buffer.from([3]))],
    ['a length of 2^63', Buffer.from([0x81, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0])],
    ['HTTP', Buffer.from('GET / HTTP/1.1\r\nHost: x\r\n\r\n')],
  ])('%s ends the connection', async (_, bytes) => {
    await using attacker = await join();
    attacker.write(bytes);
    await attacker.end();
  });

  test('ten frames of 10 MB end their connections', async () => {
    const text = Buffer.from(`42["signal",{"to":"x","data":"${'x'.repeat(10_000_000)}"}]`);
    for (let time = 0; time < 10; time += 1) {
      await using attacker = await join();
      attacker.write(frame(OPCODE.text, text));
      await attacker.end();
    }
  });

  test('10 MB in fragments end their connection too', async () => {
    await using attacker = await join();
    attacker.write(frame(OPCODE.text, Buffer.from('42["signal","'), { final: false }));
    for (let part = 0; part < 200 && attacker.open; part += 1) {
      attacker.write(frame(OPCODE.continuation, Buffer.alloc(50_000, 'x'), { final: false }));
    }
    await attacker.end();
  });
});
