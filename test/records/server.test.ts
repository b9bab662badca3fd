/** Call records of whole servers: from the requests of clients to the rows in the database. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { type Database, readNumber } from '../../src/database/database.ts';
import { openDatabase } from '../../src/database/open.ts';
import { createRedisEngine } from '../../src/engine/redis/index.ts';
import { createServer, type PartialOptions } from '../../src/index.ts';
import type { Call } from '../../src/records/port.ts';
import { findCall, listCalls, readLost } from '../../src/records/read.ts';
import { systemClock } from '../../src/support/clock.ts';
import { EngineHarness, settingsOf } from '../engine/harness.ts';
import { connectClient } from '../support/client.ts';
import { listening } from '../support/log.ts';
import { startPostgres } from '../support/postgres.ts';
import { temporaryFolder } from '../support/process.ts';
import { startRedis } from '../support/redis.ts';
import { retry } from '../support/retry.ts';
import { startSignalbox } from '../support/signalbox.ts';
import { recordAll, recorderOf } from './harness.ts';

const LOCAL = { host: '127.0.0.1', port: 0, demo: false };

async function start(options: PartialOptions) {
  const server = await createServer({ ...LOCAL, ...options });
  return Object.assign(server, { [Symbol.asyncDispose]: () => server.close() });
}

/** Waits for a record that fulfils the condition. */
const recorded = (database: Database, ref: string, fits: (call: Call) => boolean): Promise<Call> =>
  retry(async () => {
    const call = await findCall(database, ref);
    if (call === undefined || !fits(call)) throw new Error(`not yet: ${JSON.stringify(call)}`);
    return call;
  });

async function startCall(url: string, other = url) {
  const anna = await connectClient(url);
  const ben = await connectClient(other);
  const { room } = await anna.must('room:create', { type: 'video', profile: { name: 'Anna' } });
  await ben.must('room:join', { code: room.code, profile: { name: 'Ben', mediaType: 'audio' } });
  return { anna, ben, room };
}

test('a server that closes has recorded the whole call', async () => {
  await using folder = await temporaryFolder();
  const server = await start({ dataDir: folder.path });
  const { anna, ben, room } = await startCall(server.url);
  await using _anna = anna;
  await using _ben = ben;
  const benId = ben.userId;
  for (let count = 0; count < 5; count += 1) await anna.must('signal', { to: benId, data: { count } });
  // Signals outside the fast path, signals to oneself on both paths, and signals that reach no member.
  await ben.must('signal', { data: 'long', to: anna.userId });
  await ben.must('signal', { data: 'long', to: benId });
  await ben.must('signal', { to: benId, data: 'short' });
  expect(await ben.refused('signal', { to: 'nobody', data: 1 })).toBe('PEER_NOT_FOUND');
  await ben.must('room:leave');
  await anna.must('room:close');
  const { room: open } = await anna.must('room:create');
  await server.close();

  const database = openDatabase(`sqlite:${join(folder.path, 'signalbox.db')}`);
  const call = await findCall(database, room.ref);
  expect(call).toMatchObject({
    code: room.code,
    type: 'video',
    reason: 'closed',
    hostId: anna.userId,
    createdBy: anna.userId,
    peakMembers: 2,
    totalMembers: 2,
    signals: 6,
    complete: true,
    participants: [
      { userId: anna.userId, name: 'Anna', seq: 1, reason: 'closed' },
      { userId: benId, name: 'Ben', seq: 2, reason: 'left', mediaType: 'audio' },
    ],
  });
  // The room in memory ended with the process.
  expect(await findCall(database, open.ref)).toMatchObject({
    reason: 'unknown',
    participants: [{ reason: 'unknown' }],
  });
  await database.close();
});

test('calls of a killed process are ended at their last event, and marked incomplete', async () => {
  await using folder = await temporaryFolder();
  const database = openDatabase(`sqlite:${join(folder.path, 'signalbox.db')}`);
  const killed = await startSignalbox({ dataDir: folder.path });
  await using anna = await connectClient(killed.url);
  const { room } = await anna.must('room:create');
  await recorded(database, room.ref, ({ participants }) => participants.length === 1);
  await killed.child.kill();
  await using _next = await start({ dataDir: folder.path });
  const call = await recorded(database, room.ref, ({ endedAt }) => endedAt !== null);
  expect(call).toMatchObject({ reason: 'unknown', complete: false, participants: [{ userId: anna.userId }] });
  await database.close();
});

test('two nodes go on signaling while the database is away, and nothing is missing afterwards', async () => {
  await using redis = await startRedis();
  await using postgres = await startPostgres();
  const databaseUrl = await postgres.createDatabase('calls');
  const options = { redisUrl: redis.url, databaseUrl };
  const [one, two] = [await start(options), await start(options)];
  const before = await startCall(one.url, two.url);
  await using anna = before.anna;
  await using ben = before.ben;
  const database = openDatabase(databaseUrl);
  await recorded(database, before.room.ref, ({ participants }) => participants.length === 2);

  postgres.freeze();
  const refs: string[] = [];
  for (let count = 0; count < 30; count += 1) {
    await anna.must('signal', { to: ben.userId, data: count });
    await ben.must('signal', { to: anna.userId, data: count });
    // A user who joins and leaves rooms, on one node and on the other.
    await using carl = await connectClient(count % 2 === 0 ? one.url : two.url);
    const { room } = await carl.must('room:create');
    await carl.must('room:close');
    refs.push(room.ref);
  }
  postgres.thaw();
  await postgres.kill();
  await anna.must('room:close');
  await postgres.start();
  await recorded(database, before.room.ref, ({ reason }) => reason === 'closed');
  // Counts are written when the nodes close, at the latest.
  await Promise.all([one.close(), two.close()]);
  expect(await findCall(database, before.room.ref)).toMatchObject({ signals: 60, complete: true, peakMembers: 2 });
  const { calls } = await listCalls(database, { limit: 100 });
  expect(calls.map(({ ref }) => ref).sort()).toEqual([before.room.ref, ...refs].sort());
  expect(calls.every(({ complete, reason }) => complete && reason === 'closed')).toBe(true);
  expect(await readLost(database)).toEqual({ events: 0, signals: 0 });
  await database.close();
});

test('a recorder that is killed in the middle of its transaction leaves nothing behind, and the next one misses nothing', async () => {
  await using redis = await startRedis();
  await using folder = await temporaryFolder();
  const url = `sqlite:${folder.path}/signalbox.db`;
  const settings = { ...settingsOf(9_000), feedMaxEvents: 1_000 };
  const engine = await createRedisEngine({ url: redis.url })(settings);
  const clock = { ...systemClock, advance: () => {} };
  const rooms = new EngineHarness(engine, clock);
  const room = await rooms.room(['anna', 'ben']);
  const program = fileURLToPath(new URL('./dying-recorder.mjs', import.meta.url));
  const child = fork(
    program,
    [JSON.stringify({ redis: redis.url, database: url, settings: { ...settings, nodeId: 'recorder' } })],
    { execArgv: [] },
  );
  expect(await once(child, 'exit')).toEqual([null, 'SIGKILL']);

  const database = openDatabase(url);
  expect(await findCall(database, room.ref)).toBeUndefined();
  await rooms.close(room, 'anna');
  await recordAll(recorderOf(database, rooms));
  expect(await findCall(database, room.ref)).toMatchObject({ reason: 'closed', complete: true, totalMembers: 2 });
  const [row] = await database.rows('SELECT lost FROM signalbox_feeds');
  expect(readNumber(row?.['lost'])).toBe(0);
  await database.close();
  await engine.close();
});

test('a server without a feed records nothing, and closes the database nevertheless', async () => {
  await using folder = await temporaryFolder();
  const path = join(folder.path, 'signalbox.db');
  const server = await start({ dataDir: folder.path, feedMaxEvents: 0 });
  expect(server.calls).toBe('not recorded');
  const { anna, ben } = await startCall(server.url);
  await using _anna = anna;
  await using _ben = ben;
  expect((await stat(`${path}-wal`)).size).toBeGreaterThan(0);
  await server.close();
  // The write-ahead log was merged into the file.
  expect((await stat(`${path}-wal`).catch(() => ({ size: 0 }))).size).toBe(0);
});

test('a server that cannot recognize its earlier calls logs one warning', async () => {
  await using folder = await temporaryFolder();
  const databaseUrl = `sqlite:${join(folder.path, 'calls.db')}`;
  for (const [options, warnings] of [
    [{ databaseUrl }, 1],
    [{ databaseUrl, nodeId: 'north' }, 0],
    [{ databaseUrl, feedMaxEvents: 0 }, 0],
    [{ dataDir: folder.path }, 0],
  ] as const) {
    const { log, lines } = listening();
    const server = await createServer({ ...LOCAL, ...options }, { log });
    await server.close();
    expect(lines.filter((line) => /^warn .*nodeId/.test(line))).toHaveLength(warnings);
  }
});

test('a server with Redis and no database has no records, and does not fail', async () => {
  await using redis = await startRedis();
  await using server = await start({ redisUrl: redis.url });
  const { anna, ben } = await startCall(server.url);
  await using _anna = anna;
  await using _ben = ben;
  await anna.must('signal', { to: ben.userId, data: 1 });
});
