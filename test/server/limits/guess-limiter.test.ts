/** Nobody walks through the codes: wrong ones are counted by address, right ones are free. */
import { describe, expect, test } from 'vitest';
import { GuessLimiter } from '../../../src/server/limits/guess-limiter.ts';
import type { PartialOptions } from '../../../src/server/options/options.ts';
import { connectClient, TestClient } from '../../support/client.ts';
import { manualClock } from '../../support/manual-clock.ts';
import { type Nodes, startNodes } from '../../support/nodes.ts';

const MINUTE = 60_000;

describe('the count', () => {
  test('five misses are free, each further one doubles the wait, to ten minutes at most', () => {
    const clock = manualClock();
    const guesses = new GuessLimiter(5, clock);
    for (let miss = 0; miss < 4; miss += 1) guesses.recordMiss('a');
    expect(guesses.waitOf('a')).toBe(0);
    const waits = Array.from({ length: 13 }, () => {
      guesses.recordMiss('a');
      const wait = guesses.waitOf('a');
      clock.advance(wait);
      expect(guesses.waitOf('a')).toBe(0);
      return wait / 1000;
    });
    expect(waits).toEqual([1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 600, 600, 600]);
    expect(guesses.waitOf('b')).toBe(0);
  });

  test('a quarter of an hour without a miss is forgiven', () => {
    const clock = manualClock();
    const guesses = new GuessLimiter(5, clock);
    for (let miss = 0; miss < 8; miss += 1) guesses.recordMiss('a');
    clock.advance(15 * MINUTE);
    for (let miss = 0; miss < 4; miss += 1) guesses.recordMiss('a');
    expect(guesses.waitOf('a')).toBe(0);
  });

  test('with none free, the first miss is waited for', () => {
    const guesses = new GuessLimiter(0, manualClock());
    expect(guesses.waitOf('a')).toBe(0);
    guesses.recordMiss('a');
    expect(guesses.waitOf('a')).toBe(2000);
  });

  test('a million addresses do not fill the memory, and the latest is not the one forgotten', () => {
    const guesses = new GuessLimiter(0, manualClock());
    const addresses = Array.from({ length: 1_000_000 }, (_, address) => `2001:db8:${address}`);
    for (const address of addresses) guesses.recordMiss(address);
    const remembered = addresses.filter((address) => guesses.waitOf(address) > 0);
    expect(remembered.length).toBeLessThanOrEqual(100_000);
    expect(remembered.at(-1)).toBe('2001:db8:999999');
  });
});

describe('a look-up', () => {
  const nobody = { ok: false, reason: 'ROOM_NOT_FOUND' } as const;

  test('a hundred at once are answered no more often than one after the other', async () => {
    const guesses = new GuessLimiter(5, manualClock());
    const answers = await Promise.all(Array.from({ length: 100 }, () => guesses.attempt('a', async () => nobody)));
    expect(answers.filter(({ reason }) => reason === 'ROOM_NOT_FOUND')).toHaveLength(5);
    expect(guesses.waitOf('a')).toBe(1000);
  });

  test('right ones at once are all answered, and one that fails holds nobody up', async () => {
    const guesses = new GuessLimiter(1, manualClock());
    const broken = guesses.attempt('a', () => Promise.reject(new Error('away')));
    const looks = Array.from({ length: 60 }, () => guesses.attempt('a', async () => ({ ok: true })));
    await expect(broken).rejects.toThrow('away');
    expect(await Promise.all(looks)).toEqual(looks.map(() => ({ ok: true })));
  });
});

describe('at the handshake', () => {
  const PROXIED: PartialOptions = { trustedProxies: ['127.0.0.1'], poolSize: 100_000 };
  const start = (options: PartialOptions) => startNodes({ kind: 'memory', count: 1 }, options);
  /** A client as a proxy passes it on. */
  const behind = async (nodes: Nodes, forwarded: string): Promise<TestClient> => {
    const client = new TestClient(nodes.url(0), {}, { headers: { 'X-Forwarded-For': forwarded } });
    await client.next('welcome');
    return client;
  };
  /** Codes that no room can have: the pool has only those below 200000. */
  const miss = (client: TestClient, number: number) => client.ask('room:join', { code: `${900_000 + number}` });
  const missAll = async (clients: readonly TestClient[]) => {
    for (let number = 0; number < 5; number += 1) {
      const client = clients[number % clients.length];
      expect(client && (await miss(client, number))).toMatchObject({ error: { code: 'ROOM_NOT_FOUND' } });
    }
  };

  test('after five misses from an address it waits, whichever of its connections asks, and nobody else does', async () => {
    await using nodes = await start(PROXIED);
    await using host = await behind(nodes, '198.51.100.1');
    const { room } = await host.must('room:create');
    await using first = await behind(nodes, '203.0.113.7');
    await using second = await behind(nodes, '203.0.113.7');
    await missAll([first, second]);
    const waits: number[] = [];
    for (const client of [first, second]) {
      // Right or wrong: whoever may guess no more learns nothing.
      for (const code of ['900009', room.code]) {
        const reply = await client.ask('room:join', { code });
        expect(reply).toMatchObject({ error: { code: 'RATE_LIMITED', retryable: true } });
        waits.push(reply.ok ? 0 : (reply.error.retryAfterMs ?? 0));
      }
    }
    for (const wait of waits) expect(wait).toBeLessThanOrEqual(1000);
    expect(Math.min(...waits)).toBeGreaterThan(0);
    // A ref is no guess: who has it has been in the room.
    expect(await second.ask('room:join', { code: room.code, ref: room.ref })).toMatchObject({ ok: true });
    await using other = await behind(nodes, '203.0.113.8');
    expect(await other.ask('room:join', { code: room.code })).toMatchObject({ ok: true });
  });

  test('the wait grows with each further miss', async () => {
    await using nodes = await start({ ...PROXIED, freeMisses: 1 });
    await using guesser = await behind(nodes, '203.0.113.7');
    expect(await miss(guesser, 0)).toMatchObject({ error: { code: 'ROOM_NOT_FOUND' } });
    const waitNow = async () => {
      const reply = await miss(guesser, 1);
      return reply.ok || reply.error.code !== 'RATE_LIMITED' ? undefined : reply.error.retryAfterMs;
    };
    expect(await waitNow()).toBeLessThanOrEqual(1000);
    // The system's clock decides; asking in vain does not make the wait longer.
    let wait: number | undefined;
    for (let next = await waitNow(); next !== undefined; next = await waitNow()) wait = next;
    expect(wait).toBeLessThanOrEqual(1000);
    const longer = await waitNow();
    expect(longer).toBeGreaterThan(1000);
    expect(longer).toBeLessThanOrEqual(2000);
  });

  test('a class of sixty behind one address gets in', async () => {
    await using nodes = await start({ maxUsers: 61 });
    await using host = await connectClient(nodes.url(0));
    const { room } = await host.must('room:create');
    const pupils = await Promise.all(Array.from({ length: 60 }, () => connectClient(nodes.url(0))));
    const replies = await Promise.all(pupils.map((pupil) => pupil.ask('room:join', { code: room.code })));
    expect(replies.filter(({ ok }) => ok)).toHaveLength(60);
    for (const pupil of pupils) pupil.socket.disconnect();
  });

  test('a full room is no wrong code', async () => {
    await using nodes = await start({ maxUsers: 2 });
    await using host = await connectClient(nodes.url(0));
    await using guest = await connectClient(nodes.url(0));
    await using late = await connectClient(nodes.url(0));
    const { room } = await host.must('room:create');
    await guest.must('room:join', { code: room.code });
    for (let time = 0; time < 8; time += 1)
      expect(await late.refused('room:join', { code: room.code })).toBe('ROOM_FULL');
  });

  test('who is no trusted proxy cannot name another address', async () => {
    await using nodes = await start({ poolSize: 100_000 });
    const liars = await Promise.all(Array.from({ length: 6 }, (_, number) => behind(nodes, `203.0.113.${number}`)));
    await missAll(liars);
    const reply = liars[5] && (await miss(liars[5], 9));
    expect(reply).toMatchObject({ error: { code: 'RATE_LIMITED' } });
    for (const liar of liars) liar.socket.disconnect();
  });

  test('nor can a client behind a trusted proxy: only what the proxy wrote counts', async () => {
    await using nodes = await start(PROXIED);
    const liars = await Promise.all(
      Array.from({ length: 6 }, (_, number) => behind(nodes, `192.0.2.${number}, 203.0.113.7`)),
    );
    await missAll(liars);
    expect(liars[5] && (await miss(liars[5], 9))).toMatchObject({ error: { code: 'RATE_LIMITED' } });
    for (const liar of liars) liar.socket.disconnect();
  });
});
