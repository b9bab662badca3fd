/** Counted references as refs of rooms and ids of users: when they are used, and their cost. */
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

test('a server without a data directory has random refs and writes no file', async () => {
  const before = readdirSync('.');
  await using server = await start({});
  await using ann = await connectClient(server.url);
  expect((await ann.must('room:create')).room.ref).toMatch(BY_CHANCE);
  expect(server.references).toBe('random');
  expect(readdirSync('.')).toEqual(before);
});

test('refs in a data directory are counted, and go on after a restart', async () => {
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

test('every issued reference is logged with its requester', async () => {
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

test('anonymous users get counted ids if so configured, and keep them when they come back', async () => {
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
    /databaseUrl, which all nodes share/,
  ],
])('counted user ids need a ledger that all nodes share: %s', async (_, options, reason) => {
  const starting = start({ ...options, userIds: 'reference' });
  await expect(starting).rejects.toThrow(OptionError);
  await expect(starting).rejects.toThrow(reason);
});

test('a server with Redis and no database has random refs, and logs one warning', async () => {
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

test('two nodes on one Redis and one database repeat no ref, and no room waits for another round trip', async () => {
  await using redis = await startRedis();
  await using folder = await temporaryFolder();
  const options = { redisUrl: redis.url, databaseUrl: `sqlite:${join(folder.path, 'all.db')}`, referencePrefix: 'ecm' };
  await using north = await start(options);
  await using south = await start(options);
  await using ann = await connectClient(north.url);
  await using ben = await connectClient(south.url);
  const commands = await startMonitor(redis.url, 'evalsha', 'ecm:ref:4');
  const refs: string[] = [];
  for (let count = 0; count < 100; count += 1) {
    refs.push((await ann.must('room:create')).room.ref, (await ben.must('room:create')).room.ref);
  }
  for (const ref of refs) expect(ref).toMatch(COUNTED);
  expect(new Set(refs).size).toBe(200);
  // Buffered by the dozen, in the background.
  expect(commands.count()).toBeGreaterThan(0);
  expect(commands.count()).toBeLessThanOrEqual(200 / 16 + 2);
  commands.end();
});

/** Counts the commands to Redis that contain these words. */
async function startMonitor(url: string, ...words: string[]) {
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

test('a database that does not answer fails the start with the reason, without the password', async () => {
  const starting = start({ databaseUrl: 'postgres://signalbox:hunter2@127.0.0.1:1/none' });
  await expect(starting).rejects.toThrow(
    'the ledger does not answer (postgres at 127.0.0.1:1/none: connect ECONNREFUSED 127.0.0.1:1)',
  );
  await expect(starting).rejects.not.toThrow(/hunter2/);
});

test('a predictable ref does not help to guess codes', async () => {
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
