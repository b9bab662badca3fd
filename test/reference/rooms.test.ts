/** Rooms and users named by counted references: when, and what it costs. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { pino } from 'pino';
import { createClient } from 'redis';
import { expect, test } from 'vitest';
import { createServer, OptionError } from '../../src/index.ts';
import type { PartialOptions } from '../../src/server/options/options.ts';
import { connectClient } from '../support/client.ts';
import { temporaryFolder } from '../support/process.ts';
import { startRedis } from '../support/redis.ts';

const COUNTED = /^ROM20\d\d\d{8}$/;
const BY_CHANCE = /^ROM20\d\d\d{24}$/;
const HERE: PartialOptions = { host: '127.0.0.1', port: 0, demo: false, eventsPerSecond: 1e5, eventsBurst: 1e5 };

async function start(options: PartialOptions, lines: string[] = []) {
  const log = pino({ level: 'info', base: null }, { write: (line: string) => void lines.push(line) });
  const server = await createServer({ ...HERE, ...options }, { log });
  return Object.assign(server, { [Symbol.asyncDispose]: () => server.close() });
}

const sequenceOf = (reference: string) => Number(reference.slice('ROM2026'.length));

test('a library writes no file unless it is told where: refs are random', async () => {
  const before = readdirSync('.');
  await using server = await start({});
  await using ann = await connectClient(server.url);
  expect((await ann.must('room:create')).room.ref).toMatch(BY_CHANCE);
  expect(server.references).toBe('random');
  expect(readdirSync('.')).toEqual(before);
});

test('with a data directory they are counted, and go on after a restart', async () => {
  await using folder = await temporaryFolder();
  const dataDir = join(folder.path, 'deep', 'data');
  const refs: string[] = [];
  for (let life = 0; life < 2; life += 1) {
    await using server = await start({ dataDir });
    expect(server.references).toBe(`counted, in sqlite at ${join(dataDir, 'signalbox.db')}`);
    await using ann = await connectClient(server.url);
    for (let count = 0; count < 3; count += 1) refs.push((await ann.must('room:create')).room.ref);
  }
  for (const ref of refs) expect(ref).toMatch(COUNTED);
  expect(new Set(refs).size).toBe(6);
  expect(refs.map(sequenceOf)).toEqual(refs.map(sequenceOf).toSorted((a, b) => a - b));
});

test('every issue is logged, with who asked for it', async () => {
  await using folder = await temporaryFolder();
  const lines: string[] = [];
  await using server = await start({ dataDir: folder.path }, lines);
  await using ann = await connectClient(server.url, { name: 'Rosalind' });
  const { ref } = (await ann.must('room:create', { name: 'Confidential' })).room;
  const issues = lines.map((line) => JSON.parse(line)).filter(({ msg }) => msg === 'a reference was issued');
  expect(issues).toEqual([
    expect.objectContaining({
      itemType: 'room',
      reference: ref,
      traceId: expect.stringMatching(`^${ann.userId}:`),
      name: 'room:create',
    }),
  ]);
  expect(lines.join()).not.toMatch(/Rosalind|Confidential/);
});

test('users without an identity are counted where that is asked for, and keep their name when they come back', async () => {
  await using folder = await temporaryFolder();
  await using server = await start({ dataDir: folder.path, userIds: 'reference' });
  await using ann = await connectClient(server.url);
  await using ben = await connectClient(server.url);
  expect(ann.userId).toMatch(/^USR20\d\d00000001$/);
  expect(ben.userId).toMatch(/^USR20\d\d00000002$/);
  const { room } = await ann.must('room:create');
  await ben.must('room:join', { code: room.code });
  await ann.must('signal', { to: ben.userId, data: 1 });
});

test.each<[string, PartialOptions, RegExp]>([
  ['no ledger', {}, /databaseUrl or a dataDir/],
  [
    'Redis and a directory',
    { redisUrl: 'redis://127.0.0.1:1', dataDir: '/nowhere' },
    /databaseUrl that all nodes share/,
  ],
])('counted users need a ledger that all nodes share: %s', async (_, options, reason) => {
  const starting = start({ ...options, userIds: 'reference' });
  await expect(starting).rejects.toThrow(OptionError);
  await expect(starting).rejects.toThrow(reason);
});

test('with Redis and no database, refs are random, and one warning is logged', async () => {
  await using redis = await startRedis();
  await using folder = await temporaryFolder();
  const lines: string[] = [];
  await using server = await start(
    { redisUrl: redis.url, dataDir: folder.path, secret: 'a secret of this test' },
    lines,
  );
  await using ann = await connectClient(server.url);
  expect((await ann.must('room:create')).room.ref).toMatch(BY_CHANCE);
  expect(lines.filter((line) => line.includes('"level":40'))).toEqual([
    expect.stringContaining('give all nodes the databaseUrl'),
  ]);
  expect(readdirSync(folder.path)).toEqual([]);
});

test('two nodes on one Redis and one database: none twice, and no room waits for Redis once more', async () => {
  await using redis = await startRedis();
  await using folder = await temporaryFolder();
  const options = { redisUrl: redis.url, databaseUrl: `sqlite:${join(folder.path, 'all.db')}`, referencePrefix: 'ecm' };
  await using north = await start(options);
  await using south = await start(options);
  await using ann = await connectClient(north.url);
  await using ben = await connectClient(south.url);
  const asks = await startHearing(redis.url, 'evalsha', 'ecm:ref:4');
  const refs: string[] = [];
  for (let count = 0; count < 100; count += 1) {
    refs.push((await ann.must('room:create')).room.ref, (await ben.must('room:create')).room.ref);
  }
  for (const ref of refs) expect(ref).toMatch(COUNTED);
  expect(new Set(refs).size).toBe(200);
  // Fetched by the dozen, while nobody waits.
  expect(asks.count()).toBeGreaterThan(0);
  expect(asks.count()).toBeLessThanOrEqual(200 / 16 + 2);
  asks.end();
});

/** Counts the commands that clients send to Redis and that hold these words. */
async function startHearing(url: string, ...words: string[]) {
  const client = createClient({ url });
  client.on('error', () => {});
  await client.connect();
  let count = 0;
  await client.monitor((line) => {
    const text = line.toString();
    if (words.every((word) => text.toLowerCase().includes(word))) count += 1;
  });
  return { count: () => count, end: () => client.destroy() };
}

test('a database that does not answer ends the start with the reason, without the password', async () => {
  const starting = start({ databaseUrl: 'postgres://signalbox:hunter2@127.0.0.1:1/none' });
  await expect(starting).rejects.toThrow(
    'the ledger does not answer (postgres at 127.0.0.1:1/none: connect ECONNREFUSED 127.0.0.1:1)',
  );
  await expect(starting).rejects.not.toThrow(/hunter2/);
});

test('a ref that can be told in advance opens no way to try all codes with it', async () => {
  await using folder = await temporaryFolder();
  await using server = await start({ dataDir: folder.path });
  await using ann = await connectClient(server.url);
  await using eve = await connectClient(server.url);
  const { ref } = (await ann.must('room:create')).room;
  const answers = new Set<string>();
  for (let code = 100_000; code < 100_150; code += 1)
    answers.add(await eve.refused('room:join', { code: String(code), ref }));
  expect([...answers]).toEqual(['CODE_EXPIRED', 'RATE_LIMITED']);
});
