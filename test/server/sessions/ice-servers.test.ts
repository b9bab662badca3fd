/** TURN credentials: members receive them with the seat and in pushes, before the old ones expire. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { IceServer } from '../../../src/protocol/messages.ts';
import type { PartialOptions } from '../../../src/server/options/options.ts';
import { connectClient, type TestClient } from '../../support/client.ts';
import { type ManualClock, manualClock } from '../../support/manual-clock.ts';
import { type Nodes, startNodes } from '../../support/nodes.ts';
import { tokenOf } from '../scenarios/members.ts';

const NEW = 'the secret of this spring';
const OLD = 'the secret of last winter';
const STUN = { urls: ['stun:stun.example.org:3478'] };
const TURN = ['turn:turn.example.org:3478?transport=udp', 'turn:turn.example.org:3478?transport=tcp'];
const TTL_MS = 40_000;
const TICK_MS = 10_000;
const TURN_OPTIONS: PartialOptions = {
  stunUrls: STUN.urls,
  turnUrls: TURN,
  turnSecrets: [NEW],
  turnTtlMs: TTL_MS,
  tickMs: TICK_MS,
};

let clock: ManualClock;
let nodes: Nodes;
let ann: TestClient;

async function begin(options: PartialOptions = {}, kind: 'memory' | 'redis' = 'memory'): Promise<void> {
  await nodes?.[Symbol.asyncDispose]();
  clock = manualClock(); // at a full second
  nodes = await startNodes({ kind, count: 1 }, { ...TURN_OPTIONS, ...options }, { clock });
  ann = await connectClient(nodes.url(0));
}

beforeEach(() => begin());
afterEach(() => nodes[Symbol.asyncDispose]());

describe('credentials', () => {
  test('are issued with a seat, and not without one', async () => {
    expect(await ann.must('ice')).toEqual({ ok: true, iceServers: [STUN], ttlMs: 24 * 60 * 60_000 });
    const made = await ann.must('room:create');
    await expectCredentials(made.iceServers, ann, [NEW]);
    const ben = await connectClient(nodes.url(0));
    const joined = await ben.must('room:join', { code: made.room.code });
    await expectCredentials(joined.iceServers, ben, [NEW]);
    const reply = await ben.must('ice');
    await expectCredentials(reply.iceServers, ben, [NEW]);
    expect(reply.ttlMs).toBe(TTL_MS);
    await ben.must('room:leave');
    expect((await ben.must('ice')).iceServers).toEqual([STUN]);
  });

  test('are not issued to a client that was refused a seat', async () => {
    const { room } = await ann.must('room:create');
    await ann.must('room:update', { locked: true });
    const ben = await connectClient(nodes.url(0));
    expect(await ben.refused('room:join', { code: room.code })).toBe('ROOM_LOCKED');
    expect((await ben.must('ice')).iceServers).toEqual([STUN]);
  });

  test('are issued for both secrets during a change, the new secret first', async () => {
    await begin({ turnSecrets: [NEW, OLD] });
    const { iceServers } = await ann.must('room:create');
    await expectCredentials(iceServers, ann, [NEW, OLD]);
  });

  test('expire after the announced time, rounded up to a second', async () => {
    await begin({ turnTtlMs: 40_001 });
    clock.advance(1);
    const { iceServers } = await ann.must('room:create');
    expect((await ann.must('ice')).ttlMs).toBe(40_001);
    expect(expiryOf(iceServers)).toBe(Math.ceil((clock.now() + 40_001) / 1000) * 1000);
  });

  test('are issued without a STUN server', async () => {
    await begin({ stunUrls: [] });
    expect((await ann.must('ice')).iceServers).toEqual([]);
    const { iceServers } = await ann.must('room:create');
    expect(iceServers.map(({ urls }) => urls)).toEqual([TURN]);
  });

  test('are neither issued nor pushed without a TURN server', async () => {
    await begin({ turnUrls: [], turnSecrets: [] });
    expect((await ann.must('room:create')).iceServers).toEqual([STUN]);
    await pass(10 * TTL_MS);
    expect(await ann.must('ice')).toEqual({ ok: true, iceServers: [STUN], ttlMs: 24 * 60 * 60_000 });
    expect(ann.all('ice')).toEqual([]);
  });
});

describe('new credentials are pushed', () => {
  test('in the last third of the lifetime of the old ones, and not before', async () => {
    await ann.must('room:create');
    await pass((TTL_MS * 2) / 3);
    expect(ann.all('ice')).toEqual([]);
    // Ages are counted in whole seconds: it may be the tick after the next.
    await pass(2 * TICK_MS);
    const [push, ...more] = ann.all('ice');
    expect(more).toEqual([]);
    expect(push?.ttlMs).toBe(TTL_MS);
    await expectCredentials(push?.iceServers ?? [], ann, [NEW], 2 * TICK_MS);
  });

  test.each([
    ['four ticks', 4 * TICK_MS],
    ['four ticks and a fraction', 4 * TICK_MS + 7777],
    ['twenty ticks', 20 * TICK_MS],
  ])('so that valid ones always exist: a lifetime of %s', async (_, turnTtlMs) => {
    await begin({ turnTtlMs });
    let until = expiryOf((await ann.must('room:create')).iceServers);
    for (let step = 0; step < 60; step += 1) {
      await pass(TICK_MS / 3);
      const latest = ann.all('ice').at(-1);
      if (latest !== undefined) until = expiryOf(latest.iceServers);
      expect(until).toBeGreaterThan(clock.now());
    }
    // The pushes are at least two thirds of a lifetime apart.
    expect(ann.all('ice').length).toBeLessThanOrEqual(Math.ceil((20 * TICK_MS) / ((turnTtlMs * 2) / 3)));
    expect(ann.all('ice').length).toBeGreaterThan(0);
  });

  test('with a lifetime that begins at the last request', async () => {
    await ann.must('room:create');
    await pass(TTL_MS / 2);
    await ann.must('ice');
    await pass(TTL_MS / 2);
    expect(ann.all('ice')).toEqual([]);
  });

  test('to every member, and not after a leave or the end of the room', async () => {
    const { room } = await ann.must('room:create');
    const [ben, cat] = await Promise.all([connectClient(nodes.url(0)), connectClient(nodes.url(0))]);
    for (const client of [ben, cat]) await client.must('room:join', { code: room.code });
    await ben.must('room:leave');
    await pass(TTL_MS);
    expect([ann, ben, cat].map((client) => client.all('ice').length > 0)).toEqual([true, false, true]);
    const before = cat.all('ice').length;
    await ann.must('room:close');
    await cat.next('room:closed');
    await pass(2 * TTL_MS);
    await cat.must('heartbeat');
    expect(cat.all('ice').length).toBe(before);
  });

  test('in a second room as in the first', async () => {
    await ann.must('room:create');
    await ann.must('room:leave');
    await pass(2 * TTL_MS);
    expect(ann.all('ice')).toEqual([]);
    await ann.must('room:create');
    await pass(TTL_MS / 2);
    expect(ann.all('ice')).toEqual([]);
    await pass(TTL_MS / 2);
    expect(ann.all('ice')).toHaveLength(1);
  });

  test('in time to a member that has resumed and requested them', async () => {
    const back = await resumeAnn();
    await expectCredentials((await back.must('ice')).iceServers, back, [NEW]);
    await pass(TTL_MS / 2, back);
    expect(back.all('ice')).toEqual([]);
    await pass(TTL_MS / 2, back);
    expect(back.all('ice')).toHaveLength(1);
  });

  test('at once to a member that has resumed without a request, because the age of its old ones is unknown', async () => {
    const back = await resumeAnn();
    await pass(TICK_MS, back);
    const [push] = back.all('ice');
    await expectCredentials(push?.iceServers ?? [], back, [NEW], TICK_MS);
  });

  test('also while the store does not answer', async () => {
    await begin({}, 'redis');
    await ann.must('room:create');
    nodes.redis?.freeze();
    try {
      clock.advance(TTL_MS);
      expect(expiryOf((await ann.next('ice')).iceServers)).toBeGreaterThan(clock.now());
    } finally {
      nodes.redis?.thaw();
    }
  });
});

/** Cuts Ann's connection and resumes her seat. */
async function resumeAnn(): Promise<TestClient> {
  await ann.must('room:create');
  ann.cut();
  const back = await connectClient(nodes.url(0), { resume: tokenOf(ann) });
  expect(back.all('welcome')[0]?.room).not.toBeNull();
  return back;
}

/** Advances the clock in ticks. The heartbeats keep the user alive, and their replies come after every push. */
async function pass(ms: number, client = ann): Promise<void> {
  for (let left = ms; left > 0; left -= TICK_MS) {
    clock.advance(Math.min(left, TICK_MS));
    await client.must('heartbeat');
  }
}

function expiryOf(iceServers: readonly IceServer[]): number {
  return 1000 * Number(iceServers.at(-1)?.username?.split(':')[0]);
}

/** Expects STUN, then an entry for each secret, signed with it for that user at most `agoMs` ago. */
async function expectCredentials(
  iceServers: readonly IceServer[],
  { userId }: TestClient,
  secrets: readonly string[],
  agoMs = 0,
): Promise<void> {
  const until = expiryOf(iceServers);
  // Rounded up to a full second.
  expect(until).toBeLessThan(clock.now() + TTL_MS + 1_000);
  expect(until).toBeGreaterThanOrEqual(clock.now() + TTL_MS - agoMs);
  const username = `${until / 1000}:${userId}`;
  const turn = secrets.map(async (secret) => ({ urls: TURN, username, credential: await signedBy(secret, username) }));
  expect(iceServers).toEqual([STUN, ...(await Promise.all(turn))]);
}

/** Signs with Web Crypto, independently of the server's own implementation. */
async function signedBy(secret: string, text: string): Promise<string> {
  const encode = (of: string) => new TextEncoder().encode(of);
  const algorithm = { name: 'HMAC', hash: 'SHA-1' };
  const key = await crypto.subtle.importKey('raw', encode(secret), algorithm, false, ['sign']);
  return Buffer.from(await crypto.subtle.sign('HMAC', key, encode(text))).toString('base64');
}
