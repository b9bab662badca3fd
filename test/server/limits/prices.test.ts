/** Requests are charged by what they make the server do; what people do in a call is never refused for it. */
import { describe, expect, test } from 'vitest';
import type { RequestName } from '../../../src/protocol/events.ts';
import type { UserId } from '../../../src/protocol/ids.ts';
import { LIMITS } from '../../../src/protocol/limits.ts';
import { JsonText } from '../../../src/server/json/json-text.ts';
import { PRICES } from '../../../src/server/limits/prices.ts';
import { RoomTraffic } from '../../../src/server/limits/room-traffic.ts';
import { connectClient, type TestClient } from '../../support/client.ts';
import { eventually } from '../../support/fleet.ts';
import { manualClock } from '../../support/manual-clock.ts';
import { startNodes } from '../../support/nodes.ts';
import { RawSocket } from '../../support/raw-socket.ts';

const [ANN, BOB, CLEO] = ['ann', 'bob', 'cleo'] as UserId[] as [UserId, UserId, UserId];

/** A bucket that is not refilled while a test runs. */
const FROZEN = { eventsPerSecond: 1, strikes: 1_000_000 };

async function granted(count: number, ask: () => Promise<{ ok: boolean }>): Promise<number> {
  const replies = await Promise.all(Array.from({ length: count }, ask));
  return replies.filter(({ ok }) => ok).length;
}

/** A full room of so many members, the host first. */
async function roomOf(url: string, seats: number): Promise<TestClient[]> {
  const host = await connectClient(url);
  const { code } = (await host.must('room:create', { maxUsers: seats })).room;
  const others = await Promise.all(Array.from({ length: seats - 1 }, () => connectClient(url)));
  for (const other of others) await other.must('room:join', { code });
  return [host, ...others];
}

const close = (clients: readonly TestClient[]) => {
  for (const { socket } of clients) socket.disconnect();
};

describe('the table', () => {
  test('a request that is about a room of 8 costs two tokens at most', () => {
    const names = Object.keys(PRICES) as RequestName[];
    const prices = names.map((name) =>
      PRICES[name].of({ data: new JsonText('x'.repeat(LIMITS.messageBytes)) } as never, 8),
    );
    expect(Math.max(...prices)).toBe(2);
    expect(names.filter((name) => PRICES[name].of({ data: new JsonText('1') } as never, 1) > 2)).toEqual([]);
  });

  test('requests that send to all members, or answer with all of them, cost more in a large room', () => {
    const dear = (Object.keys(PRICES) as RequestName[]).filter(
      (name) => PRICES[name].of({ data: new JsonText('x'.repeat(1000)) } as never, 100) > 1,
    );
    expect(dear).toEqual(['room:join', 'room:get', 'room:update', 'room:kick', 'room:close', 'profile', 'message']);
  });
});

describe('on the wire', () => {
  test('reading a room costs by its members, and a cheap request is still granted when a read is not', async () => {
    await using nodes = await startNodes({ kind: 'memory', count: 1 }, { ...FROZEN, eventsBurst: 40 });
    const room = await roomOf(nodes.url(0), 40);
    const last = room.at(-1) ?? expect.unreachable();
    // The last one in has paid for its join: 10 of its 40 tokens. A read of 40 members costs 5.
    expect(await granted(20, () => last.ask('room:get'))).toBeLessThanOrEqual(6);
    const refused = await last.ask('room:get');
    expect(refused).toMatchObject({ ok: false, error: { code: 'RATE_LIMITED', retryAfterMs: expect.any(Number) } });
    close(room);
  });

  test.each([
    ['an empty update', 'room:update', {}],
    ['a join of the room that one is in', 'room:join', undefined],
  ] as const)('%s costs what it answers', async (_what, name, payload) => {
    await using nodes = await startNodes({ kind: 'memory', count: 1 }, { ...FROZEN, eventsBurst: 50 });
    const room = await roomOf(nodes.url(0), 40);
    const host = room[0] ?? expect.unreachable();
    // The host has not seen its room since it was alone in it: the first answer tells.
    const first = await host.must('room:get');
    const code = first.room.code;
    expect(await granted(20, () => host.ask(name, payload ?? { code }))).toBeLessThanOrEqual(5);
    close(room);
  });

  test('a join of a large room is paid before it: closing the connection early saves nothing', async () => {
    await using nodes = await startNodes({ kind: 'memory', count: 1 }, { ...FROZEN, eventsBurst: 50 });
    const room = await roomOf(nodes.url(0), 40);
    const [host = expect.unreachable(), last = expect.unreachable()] = [room[0], room.at(-1)];
    const { code } = (await host.must('room:get')).room;
    await last.must('room:leave');
    await using hurried = await connectClient(nodes.url(0));
    // Asked at once, before the first is answered: 10 tokens each.
    expect(await granted(20, () => hurried.ask('room:join', { code }))).toBeLessThanOrEqual(5);
    close(room);
  });

  test('members on other nodes are counted when the next tick has seen them', async () => {
    const options = { eventsPerSecond: 1_000_000, eventsBurst: 1_000_000, strikes: 1_000_000, tickMs: 200 };
    await using nodes = await startNodes({ kind: 'redis', count: 2 }, { ...options, roomBytesPerSecond: 16 * 1024 });
    await using host = await connectClient(nodes.url(0));
    const { code } = (await host.must('room:create', { maxUsers: 10 })).room;
    const others = await Promise.all(Array.from({ length: 9 }, () => connectClient(nodes.url(1))));
    for (const other of others) await other.must('room:join', { code });
    // To itself alone, it waits for 4 KB of the 16 at most; to ten, for 40.
    await eventually(async () => {
      const reply = await host.ask('message', { data: 'x'.repeat(4000) });
      return !reply.ok && (reply.error.retryAfterMs ?? 0) > 1000;
    });
    close(others);
  });

  test('a frame is paid by its length, also when the request in it is refused', async () => {
    await using nodes = await startNodes({ kind: 'memory', count: 1 }, { ...FROZEN, eventsBurst: 30 });
    const port = Number(new URL(nodes.url(0)).port);
    const long = 'x'.repeat(60_000);
    for (const text of [
      `["signal",{"to":"nobody","data":"${'€'.repeat(20_000)}"}]`,
      `["signal",{"to":"nobody","data":"${long}"}]`,
      `["nonsense","${long}"]`,
      `["room:get",{"x":"${long}"}]`,
    ]) {
      await using greedy = await RawSocket.join(port);
      const codes: string[] = [];
      for (let asked = 0; asked < 10; asked += 1) {
        const answer = await greedy.askText(text);
        codes.push(answer.ok ? 'ok' : answer.error.code);
      }
      // 4 tokens of the 30 each, and what is refilled meanwhile.
      expect(codes.filter((code) => code !== 'RATE_LIMITED').length).toBeLessThanOrEqual(8);
    }
  });

  test('eight people in a call: offers, candidates, chat and heartbeats are never refused', async () => {
    await using nodes = await startNodes({ kind: 'memory', count: 1 });
    const room = await roomOf(nodes.url(0), 8);
    const [ann = expect.unreachable(), ...others] = room;
    const sdp = { sdp: 'v'.repeat(10_000) };
    const asked = others.flatMap(({ userId: to }) => [
      ann.ask('signal', { to, data: sdp }),
      ...Array.from({ length: 10 }, (_, at) => ann.ask('signal', { to, data: { candidate: `candidate:${at} udp` } })),
    ]);
    const more = [ann.ask('heartbeat'), ann.ask('room:get'), ann.ask('profile', { name: 'Ann' }), ann.ask('ice')];
    const chat = Array.from({ length: 5 }, (_, at) => ann.ask('message', { data: { text: `hello ${at}` } }));
    const replies = await Promise.all([...asked, ...more, ...chat]);
    expect(replies.filter(({ ok }) => !ok)).toEqual([]);
    close(room);
  });
});

describe('the messages of a room', () => {
  test('are bounded as a whole, and refused at their sender, which is told when to try again', async () => {
    const options = { eventsPerSecond: 1_000_000, eventsBurst: 1_000_000, roomBytesPerSecond: 64 * 1024 };
    await using nodes = await startNodes({ kind: 'memory', count: 1 }, options);
    const room = await roomOf(nodes.url(0), 10);
    const data = 'x'.repeat(2_000);
    const replies = await Promise.all(room.map((member) => member.ask('message', { data })));
    // 10 members, 21 KB for each message: three fit at once. A busy machine may have refilled a part of a second.
    const [refused] = replies.filter(({ ok }) => !ok);
    expect(replies.filter(({ ok }) => ok).length).toBeLessThan(10);
    expect(refused).toMatchObject({ error: { code: 'RATE_LIMITED', retryAfterMs: expect.any(Number) } });
    // Signals of the same room are not messages.
    const [ann = expect.unreachable(), ben = expect.unreachable()] = room;
    await ann.must('signal', { to: ben.userId, data: 1 });
    close(room);
  });

  test.each([
    ['profiles', (member: TestClient) => member.ask('profile', { metadata: 'x'.repeat(1000) })],
    [
      'changes of the room',
      (_: TestClient, host: TestClient) => host.ask('room:update', { metadata: 'x'.repeat(1000) }),
    ],
  ])('share their budget with %s, which are refused as well', async (_what, change) => {
    const options = { eventsPerSecond: 1_000_000, eventsBurst: 1_000_000, roomBytesPerSecond: 64 * 1024 };
    await using nodes = await startNodes({ kind: 'memory', count: 1 }, options);
    const room = await roomOf(nodes.url(0), 10);
    const [host = expect.unreachable()] = room;
    const replies: Awaited<ReturnType<typeof change>>[] = [];
    for (let round = 0; round < 4; round += 1) replies.push(...(await Promise.all(room.map((it) => change(it, host)))));
    const refused = replies.find(({ ok }) => !ok);
    expect(refused).toMatchObject({ error: { code: 'RATE_LIMITED', retryAfterMs: expect.any(Number) } });
    close(room);
  });

  test('count as the bytes that are sent, whatever the script they are written in', () => {
    const price = (text: string) => PRICES.message.of({ data: new JsonText(JSON.stringify(text)) }, 100);
    expect(price('€'.repeat(1300))).toBe(price('x'.repeat(3900)));
  });

  test('have a second of traffic at once, are refilled, and one that is larger than that waits for all of it', () => {
    const clock = manualClock();
    const traffic = new RoomTraffic();
    expect(traffic.take(ANN, 600, 1000, clock)).toBe(0);
    expect(traffic.take(BOB, 600, 1000, clock)).toBe(200);
    clock.advance(200);
    expect(traffic.take(BOB, 600, 1000, clock)).toBe(0);
    clock.advance(10_000);
    expect(traffic.take(ANN, 5000, 1000, clock)).toBe(0);
    expect(traffic.take(BOB, 1, 1000, clock)).toBe(4001);
  });

  test('leave half of the budget to members that have not had their share', () => {
    const clock = manualClock();
    const traffic = new RoomTraffic();
    const sent = (who: UserId) =>
      Array.from({ length: 20 }, () => traffic.take(who, 100, 1000, clock)).filter((wait) => wait === 0).length;
    expect(sent(ANN)).toBe(5);
    expect(sent(BOB)).toBe(1);
    expect(traffic.take(ANN, 100, 1000, clock)).toBe(200);
    expect(sent(CLEO)).toBe(1);
    clock.advance(1000);
    expect(sent(ANN)).toBe(5);
  });

  test('wait for events that have been sent in any case, but not for ever', () => {
    const clock = manualClock();
    const traffic = new RoomTraffic();
    traffic.charge(null, 2000, 1000, clock);
    expect(traffic.take(ANN, 500, 1000, clock)).toBe(1500);
    for (let event = 0; event < 1000; event += 1) traffic.charge(BOB, 1000, 1000, clock);
    expect(traffic.wait(ANN, 500, 1000, clock)).toBe(4500);
  });
});
