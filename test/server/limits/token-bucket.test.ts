/** The rate limit for the requests of a connection. */
import { describe, expect, test } from 'vitest';
import { TokenBucket } from '../../../src/server/limits/token-bucket.ts';
import { readOptions } from '../../../src/server/options/options.ts';
import { manualClock } from '../../support/manual-clock.ts';
import { startNodes } from '../../support/nodes.ts';
import { RawSocket } from '../../support/raw-socket.ts';

describe('the bucket', () => {
  const options = readOptions({ eventsPerSecond: 10, eventsBurst: 5, strikes: 3 });
  const spendAll = (bucket: TokenBucket, clock: ReturnType<typeof manualClock>) =>
    Array.from({ length: 5 }, () => bucket.take(options, clock)).every(({ granted }) => granted);

  test('grants a burst, then says when to try again', () => {
    const clock = manualClock();
    const bucket = new TokenBucket(options, clock);
    expect(spendAll(bucket, clock)).toBe(true);
    expect(bucket.take(options, clock)).toEqual({ granted: false, retryAfterMs: 100, exhausted: false });
    clock.advance(60);
    expect(bucket.take(options, clock)).toMatchObject({ granted: false, retryAfterMs: expect.closeTo(40) });
    clock.advance(40);
    expect(bucket.take(options, clock)).toEqual({ granted: true });
  });

  test('is exhausted at the third strike', () => {
    const clock = manualClock();
    const bucket = new TokenBucket(options, clock);
    spendAll(bucket, clock);
    const flags = Array.from({ length: 3 }, () => bucket.take(options, clock)).map((it) => !it.granted && it.exhausted);
    expect(flags).toEqual([false, false, true]);
  });

  test('keeps its strikes between single grants, and resets them when it is full again', () => {
    const clock = manualClock();
    const bucket = new TokenBucket(options, clock);
    spendAll(bucket, clock);
    for (const exhausted of [false, false]) {
      expect(bucket.take(options, clock)).toMatchObject({ granted: false, exhausted });
      clock.advance(100);
      expect(bucket.take(options, clock)).toEqual({ granted: true });
    }
    clock.advance(500);
    expect(spendAll(bucket, clock)).toBe(true);
    expect(bucket.take(options, clock)).toMatchObject({ granted: false, exhausted: false });
  });

  test('is not exhausted by refusals that are seconds apart', () => {
    const clock = manualClock();
    const bucket = new TokenBucket(options, clock);
    bucket.charge(1_000_000);
    for (let refusal = 0; refusal < 20; refusal += 1) {
      expect(bucket.take(options, clock)).toMatchObject({ granted: false, exhausted: false });
      clock.advance(2500);
    }
  });

  test('never holds more than a burst, and loses nothing when the clock goes back', () => {
    const clock = manualClock();
    const bucket = new TokenBucket(options, clock);
    clock.advance(3_600_000);
    expect(spendAll(bucket, clock)).toBe(true);
    expect(bucket.take(options, clock).granted).toBe(false);
    clock.advance(-3_600_000);
    expect(bucket.take(options, clock)).toMatchObject({ granted: false, retryAfterMs: 100 });
  });
});

describe('on the wire', () => {
  const started = () => startNodes({ kind: 'memory', count: 1 }, { eventsPerSecond: 1, eventsBurst: 5, strikes: 10 });

  test('every request over the limit is answered, and the tenth ends the connection', async () => {
    await using nodes = await started();
    const port = Number(new URL(nodes.url(0)).port);
    await using greedy = await RawSocket.join(port);
    await using modest = await RawSocket.join(port);
    // Requests of every kind: known, unknown, malformed, refused before parsing, and without an acknowledgement.
    const requests = [
      ...Array.from({ length: 5 }, () => greedy.ask('room:leave', {})),
      greedy.ask('room:leave', {}),
      greedy.ask('nonsense', {}),
      greedy.ask('signal', 5),
      greedy.askText(`["signal",${'['.repeat(5000)}]`),
    ];
    const answers = await Promise.all(requests);
    expect(answers.slice(0, 5)).toEqual(Array.from({ length: 5 }, () => ({ ok: true })));
    for (const answer of answers.slice(5)) {
      expect(answer).toMatchObject({ ok: false, error: { code: 'RATE_LIMITED', retryable: true } });
      const wait = answer.ok ? undefined : answer.error.retryAfterMs;
      expect(wait).toBeGreaterThan(0);
      expect(wait).toBeLessThanOrEqual(1000);
    }
    expect(greedy.open).toBe(true);
    for (let strike = 5; strike <= 10; strike += 1) greedy.send('42["room:leave",{}]');
    await greedy.end();
    expect(await modest.ask('room:leave', {})).toEqual({ ok: true });
  });

  test('binary events count as requests', async () => {
    await using nodes = await started();
    await using greedy = await RawSocket.join(Number(new URL(nodes.url(0)).port));
    for (let event = 0; event < 20; event += 1) greedy.send('451-["signal",{"_placeholder":true,"num":0}]');
    await greedy.end();
  });
});
