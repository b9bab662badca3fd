/** The limit for guesses: wrong codes are counted by address, right codes are free. */
import { describe, expect, test } from 'vitest';
import { GuessLimiter } from '../../../src/server/limits/guess-limiter.ts';
import type { PartialOptions } from '../../../src/server/options/options.ts';
import { connectClient, TestClient } from '../../support/client.ts';
import { manualClock } from '../../support/manual-clock.ts';
import { type Nodes, startNodes } from '../../support/nodes.ts';

const MINUTE = 60_000;

describe('the counter', () => {
  test('five misses are free, and each further one doubles the wait up to ten minutes', () => {
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

  test('a quarter of an hour without a miss resets the counter', () => {
    const clock = manualClock();
    const guesses = new GuessLimiter(5, clock);
    for (let miss = 0; miss < 8; miss += 1) guesses.recordMiss('a');
    clock.advance(15 * MINUTE);
    for (let miss = 0; miss < 4; miss += 1) guesses.recordMiss('a');
    expect(guesses.waitOf('a')).toBe(0);
  });

  test('without free misses, the first miss causes a wait', () => {
    const guesses = new GuessLimiter(0, manualClock());
    expect(guesses.waitOf('a')).toBe(0);
    guesses.recordMiss('a');
    expect(guesses.waitOf('a')).toBe(2000);
  });

  test('a million addresses do not fill the memory, and the latest is remembered', () => {
    const guesses = new GuessLimiter(0, manualClock());
    const addresses = Array.from({ length: 1_000_000 }, (_, address) => `2001:db8:${address}`);
    for (const address of addresses) guesses.recordMiss(address);
    const remembered = addresses.filter((address) => guesses.waitOf(address) > 0);
    expect(remembered.length).toBeLessThanOrEqual(100_000);
    expect(remembered.at(-1)).toBe('2001:db8:999999');
  });
});

describe('a look-up', () => {
  const notFound = { ok: false, reason: 'ROOM_NOT_FOUND' } as const;

  test('among a hundred concurrent ones, as many are answered as in sequence', async () => {
    const guesses = new GuessLimiter(5, manualClock());
    const answers = await Promise.all(Array.from({ length: 100 }, () => guesses.attempt('a', async () => notFound)));
    expect(answers.filter(({ reason }) => reason === 'ROOM_NOT_FOUND')).toHaveLength(5);
    expect(guesses.waitOf('a')).toBe(1000);
  });

  test('with a right code is answered among concurrent ones, even when another one fails', async () => {
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
  /** A client that connects through a proxy. */
  const behind = async (nodes: Nodes, forwarded: string): Promise<TestClient> => {
    const client = new TestClient(nodes.url(0), {}, { headers: { 'X-Forwarded-For': forwarded } });
    await client.next('welcome');
    return client;
  };
  /** Codes outside of the pool, which ends below 200000. */
  const miss = (client: TestClient, number: number) => client.ask('room:join', { code: `${900_000 + number}` });
  const missAll = async (clients: readonly TestClient[]) => {
    for (let number = 0; number < 5; number += 1) {
      const client = clients[number % clients.length];
      expect(client && (await miss(client, number))).toMatchObject({ error: { code: 'ROOM_NOT_FOUND' } });
    }
  };

  test('after five misses every connection of the address waits, and no other address', async () => {
    await using nodes = await start(PROXIED);
    await using host = await behind(nodes, '198.51.100.1');
    const { room } = await host.must('room:create');
    await using first = await behind(nodes, '203.0.113.7');
    await using second = await behind(nodes, '203.0.113.7');
    await missAll([first, second]);
    const waits: number[] = [];
    for (const client of [first, second]) {
      // The answer is the same for a right and a wrong code.
      for (const code of ['900009', room.code]) {
        const reply = await client.ask('room:join', { code });
        expect(reply).toMatchObject({ error: { code: 'RATE_LIMITED', retryable: true } });
        waits.push(reply.ok ? 0 : (reply.error.retryAfterMs ?? 0));
      }
    }
    for (const wait of waits) expect(wait).toBeLessThanOrEqual(1000);
    expect(Math.min(...waits)).toBeGreaterThan(0);
    // A join with a ref is not a guess: only former members know the ref.
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
    // The wait ends by the system clock; refused attempts do not extend it.
    let wait: number | undefined;
    for (let next = await waitNow(); next !== undefined; next = await waitNow()) wait = next;
    expect(wait).toBeLessThanOrEqual(1000);
    const longer = await waitNow();
    expect(longer).toBeGreaterThan(1000);
    expect(longer).toBeLessThanOrEqual(2000);
  });

  test('sixty clients behind one address can join', async () => {
    await using nodes = await start({ maxUsers: 61 });
    await using host = await connectClient(nodes.url(0));
    const { room } = await host.must('room:create');
    const guests = await Promise.all(Array.from({ length: 60 }, () => connectClient(nodes.url(0))));
    const replies = await Promise.all(guests.map((guest) => guest.ask('room:join', { code: room.code })));
    expect(replies.filter(({ ok }) => ok)).toHaveLength(60);
    for (const guest of guests) guest.socket.disconnect();
  });

  test('a join of a full room does not count as a miss', async () => {
    await using nodes = await start({ maxUsers: 2 });
    await using host = await connectClient(nodes.url(0));
    await using guest = await connectClient(nodes.url(0));
    await using late = await connectClient(nodes.url(0));
    const { room } = await host.must('room:create');
    await guest.must('room:join', { code: room.code });
    for (let time = 0; time < 8; time += 1)
      expect(await late.refused('room:join', { code: room.code })).toBe('ROOM_FULL');
  });

  test('X-Forwarded-For from an untrusted address is ignored', async () => {
    await using nodes = await start({ poolSize: 100_000 });
    const clients = await Promise.all(Array.from({ length: 6 }, (_, number) => behind(nodes, `203.0.113.${number}`)));
    await missAll(clients);
    const reply = clients[5] && (await miss(clients[5], 9));
    expect(reply).toMatchObject({ error: { code: 'RATE_LIMITED' } });
    for (const client of clients) client.socket.disconnect();
  });

  test('X-Forwarded-For from a trusted proxy: only the address that the proxy wrote counts', async () => {
    await using nodes = await start(PROXIED);
    const clients = await Promise.all(
      Array.from({ length: 6 }, (_, number) => behind(nodes, `192.0.2.${number}, 203.0.113.7`)),
    );
    await missAll(clients);
    expect(clients[5] && (await miss(clients[5], 9))).toMatchObject({ error: { code: 'RATE_LIMITED' } });
    for (const client of clients) client.socket.disconnect();
  });
});
