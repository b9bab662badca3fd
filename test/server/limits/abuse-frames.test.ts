/** Frames that no client library would send. What cannot be answered costs its sender the connection, and nobody else. */
import { describe, expect, test } from 'vitest';
import { frame, OPCODE, RawSocket } from '../../support/raw-socket.ts';
import { expectAlive, startAttackTarget } from './attack-harness.ts';

const target = startAttackTarget();
const join = () => RawSocket.join(target.port);
const open = () => RawSocket.open(target.port);

const nested = (depth: number, open = '[', close = ']') => open.repeat(depth) + close.repeat(depth);
const nobody = 'nobody';

describe('nesting', () => {
  test('5,000 brackets are refused, and the connection goes on', async () => {
    await using attacker = await join();
    for (const bomb of [nested(5000), `${nested(5000, '{"a":', '}').replace(':}', ':0}')}`, '['.repeat(5000)]) {
      const answer = await attacker.askText(`["signal",{"to":"${nobody}","data":${bomb}}]`);
      expect(answer).toMatchObject({ ok: false, error: { code: 'BAD_REQUEST', message: 'Nested deeper than 12.' } });
    }
    await expectAlive(attacker);
  });

  test('12 levels in data are taken, 13 are not', async () => {
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

  test('brackets inside strings are text', async () => {
    await using attacker = await join();
    const text = `${'['.repeat(5000)}\\"${'{'.repeat(5000)}\\\\`;
    const answer = await attacker.askText(`["signal",{"to":"${nobody}","data":"${text}"}]`);
    expect(answer).toMatchObject({ ok: false, error: { code: 'NOT_IN_ROOM' } });
  });

  test('a deep handshake is the end of it', async () => {
    await using attacker = await open();
    attacker.send(`40{"v":1,"name":${nested(5000)}}`);
    await attacker.end();
  });
});

describe('binary', () => {
  test('an event with attachments is refused, and its attachments are dropped', async () => {
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
    ['base64 for binary', (it: RawSocket) => it.send('bAAAA')],
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
    ['no type', '4'],
    ['no JSON', '42[not json'],
    ['no array', '42{"name":"signal"}'],
    ['an empty array', '42[]'],
    ['an object for a name', '42[{"name":"signal"},{}]'],
    ['null for a name', '42[null,{}]'],
    ['a name that Socket.IO keeps for itself', '421["disconnect",{}]'],
    ['a connection that connects', '421["connect",{}]'],
    ['an event for a namespace that was not entered', '42/admin,["room:leave",{}]'],
    ['an acknowledgement nobody asked for', '430[{}]'],
    ['an acknowledgement without end', `43${'9'.repeat(400)}[{}]`],
    ['an acknowledgement that is no array', '431{"ok":true}'],
    ['a refusal, which is the server’s to say', '44{"message":"no"}'],
    ['a disconnect with something to say', '41{"why":1}'],
    ['the end of the session', '41'],
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

  test('a namespace that is not there is refused, five times', async () => {
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

  test('CONNECT after DISCONNECT, in one write, is no way round', async () => {
    await using attacker = await join();
    attacker.write(Buffer.concat(['41', '40{"v":1}'].map((text) => frame(OPCODE.text, Buffer.from(text)))));
    await attacker.end();
  });

  test('an id of any size comes back as it is understood, and breaks nothing', async () => {
    await using attacker = await join();
    attacker.send(`42${Number.MAX_SAFE_INTEGER}["room:leave",{}]`);
    await attacker.next(new RegExp(`^43${Number.MAX_SAFE_INTEGER}\\[`));
    attacker.send(`42${'9'.repeat(400)}["room:leave",{}]`);
    await attacker.next(/^43Infinity\[/);
    attacker.send(`42${'9'.repeat(400)}["signal",{"data":${nested(5000)}}]`);
    await expectAlive(attacker);
  });
});

describe('packets of Engine.IO and WebSocket', () => {
  test.each([
    ['an empty message', ''],
    ['an unknown type', '9'],
    ['a letter', 'x'],
    ['a ping, which is the server’s to send', '2'],
  ])('%s ends the connection', async (_, text) => {
    await using attacker = await join();
    attacker.send(text);
    await attacker.end();
  });

  test('what Engine.IO does not know what to do with is passed over', async () => {
    await using attacker = await join();
    for (const text of ['1', '3', '3probe', '5', '6']) attacker.send(text);
    await expectAlive(attacker);
  });

  test.each([
    ['a frame without a mask', frame(OPCODE.text, Buffer.from('3'), { masked: false })],
    ['an opcode that means nothing', frame(11, Buffer.from('3'))],
    ['a continuation of nothing', frame(OPCODE.continuation, Buffer.from('3'))],
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
