/** The wall clock of a node is set forward or back, by an operator or NTP: nothing ends early, waits longer or lasts less. */
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { openDatabase } from '../../src/database/open.ts';
import { createMemoryEngine } from '../../src/engine/memory.ts';
import { createServer } from '../../src/index.ts';
import { findCall } from '../../src/records/read.ts';
import { GuessLimiter } from '../../src/server/limits/guess-limiter.ts';
import { TokenBucket } from '../../src/server/limits/token-bucket.ts';
import { readOptions } from '../../src/server/options/options.ts';
import { systemClock } from '../../src/support/clock.ts';
import { createSteadyClock } from '../../src/support/steady-clock.ts';
import { createStoreTime } from '../../src/support/store-time.ts';
import { EngineHarness, settingsOf } from '../engine/harness.ts';
import { connectClient } from '../support/client.ts';
import { manualClock } from '../support/manual-clock.ts';
import { temporaryFolder } from '../support/process.ts';

const MINUTE = 60_000;
const STEPS = [31 * MINUTE, 400 * 24 * 60 * MINUTE, -MINUTE, -60 * MINUTE, -400 * 24 * 60 * MINUTE] as const;

describe.each(STEPS)('a step of %i ms', (ms) => {
  test('ends no room in memory, and no seat', async () => {
    const clock = manualClock();
    const rooms = new EngineHarness(createMemoryEngine(settingsOf(9_000), clock), clock);
    const room = await rooms.room(['anna', 'ben']);
    clock.step(ms);
    const { events } = await rooms.tick();
    expect(events).toEqual([]);
    const read = await rooms.apply({ kind: 'read', code: room.code });
    const { createdAt, expiresAt } = room;
    expect(read).toMatchObject({ ok: true, room: { createdAt: createdAt + ms, expiresAt: expiresAt + ms } });
    expect(await rooms.room(['cleo'])).toMatchObject({ createdAt: clock.now(), members: [{ joinedAt: clock.now() }] });
  });

  test('neither prolongs nor ends the wait after wrong codes', () => {
    const clock = manualClock();
    const guesses = new GuessLimiter(0, clock);
    for (let miss = 0; miss < 4; miss += 1) guesses.recordMiss('a');
    const wait = guesses.waitOf('a');
    clock.step(ms);
    expect(guesses.waitOf('a')).toBe(wait);
    clock.advance(wait);
    expect(guesses.waitOf('a')).toBe(0);
  });

  test('neither fills nor stops the budget of requests', () => {
    const clock = manualClock();
    const options = readOptions({ eventsBurst: 1, eventsPerSecond: 1 });
    const bucket = new TokenBucket(options, clock);
    expect(bucket.take(options, clock)).toEqual({ granted: true });
    clock.step(ms);
    expect(bucket.take(options, clock)).toMatchObject({ granted: false });
    clock.advance(1_000);
    expect(bucket.take(options, clock)).toEqual({ granted: true });
  });

  test('changes no timestamp that follows the store', () => {
    const clock = manualClock();
    const time = createStoreTime(clock);
    expect(time.now()).toBe(clock.now());
    time.learn(1_800_000_000_000);
    clock.step(ms);
    clock.advance(10);
    expect(time.now()).toBe(1_800_000_000_010);
    time.learn(undefined);
    expect(time.now()).toBe(1_800_000_000_010);
  });

  test('in the middle of a call changes no duration in its record', async () => {
    await using folder = await temporaryFolder();
    let shift = 0;
    const clock = { ...systemClock, now: () => systemClock.now() + shift };
    const server = await createServer({ host: '127.0.0.1', port: 0, demo: false, dataDir: folder.path }, { clock });
    await using anna = await connectClient(server.url);
    await using ben = await connectClient(server.url);
    const { room } = await anna.must('room:create');
    await ben.must('room:join', { code: room.code });
    shift = ms;
    await ben.must('room:leave');
    await anna.must('room:close');
    await server.close();
    const database = openDatabase(`sqlite:${join(folder.path, 'signalbox.db')}`);
    const call = (await findCall(database, room.ref)) ?? expect.unreachable();
    await database.close();
    expect(call).toMatchObject({ reason: 'closed', complete: true });
    // The instants are those of the clock that was set, also of what came before.
    expect(Math.abs(call.createdAt - clock.now())).toBeLessThan(MINUTE / 2);
    const lengths = [
      call,
      ...call.participants.map(({ joinedAt, leftAt }) => ({ createdAt: joinedAt, endedAt: leftAt })),
    ].map(({ createdAt, endedAt }) => (endedAt ?? 0) - createdAt);
    for (const length of lengths) {
      expect(length).toBeGreaterThanOrEqual(0);
      expect(length).toBeLessThan(MINUTE / 2);
    }
  });
});

test('a steady clock follows small steps, reports larger ones once, and is never set back', () => {
  const clock = manualClock(1_000_000);
  const steps: number[] = [];
  const steady = createSteadyClock(clock, (ms) => steps.push(ms));
  clock.step(800);
  expect(steady.now()).toBe(1_000_800);
  clock.step(-800);
  expect(steady.now()).toBe(1_000_800);
  clock.advance(900);
  expect(steady.now()).toBe(1_000_900);
  clock.step(-MINUTE);
  clock.advance(1);
  expect([steady.now(), steady.now()]).toEqual([1_000_901, 1_000_901]);
  clock.step(2 * MINUTE);
  clock.advance(1);
  expect(steady.now()).toBe(1_000_902);
  expect(steps).toEqual([-MINUTE, 2 * MINUTE]);
});
