/** Who is given TURN credentials, what is in them, and that no member is ever left with some that have ended. */
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
  test('are for members: given with the seat, and not without', async () => {
    expect(await ann.must('ice')).toEqual({ ok: true, iceServers: [STUN], ttlMs: 24 * 60 * 60_000 });
    const made = await ann.must('room:create');
    await expectCredentials(made.iceServers, ann, [NEW]);
    const ben = await connectClient(nodes.url(0));
    const joined = await ben.must('room:join', { code: made.room.code });
    await expectCredentials(joined.iceServers, ben, [NEW]);
    const asked = await ben.must('ice');
    await expectCredentials(asked.iceServers, ben, [NEW]);
    expect(asked.ttlMs).toBe(TTL_MS);
    await ben.must('room:leave');
    expect((await ben.must('ice')).iceServers).toEqual([STUN]);
  });

  test('are not for who was refused a seat', async () => {
    const { room } = await ann.must('room:create');
    await ann.must('room:update', { locked: true });
    const ben = await connectClient(nodes.url(0));
    expect(await ben.refused('room:join', { code: room.code })).toBe('ROOM_LOCKED');
    expect((await ben.must('ice')).iceServers).toEqual([STUN]);
  });

  test('are two while the secret is changed, of the new secret first', async () => {
    await begin({ turnSecrets: [NEW, OLD] });
    const { iceServers } = await ann.must('room:create');
    await expectCredentials(iceServers, ann, [NEW, OLD]);
  });

  test('last for as long as is said, to the end of a second', async () => {
    await begin({ turnTtlMs: 40_001 });
    clock.advance(1);
    const { iceServers } = await ann.must('room:create');
    expect((await ann.must('ice')).ttlMs).toBe(40_001);
    expect(expiryOf(iceServers)).toBe(Math.ceil((clock.now() + 40_001) / 1000) * 1000);
  });

  test('need no STUN server beside them', async () => {
    await begin({ stunUrls: [] });
    expect((await ann.must('ice')).iceServers).toEqual([]);
    const { iceServers } = await ann.must('room:create');
    expect(iceServers.map(({ urls }) => urls)).toEqual([TURN]);
  });

  test('are not there without a TURN server, and nothing is pushed', async () => {
    await begin({ turnUrls: [], turnSecrets: [] });
    expect((await ann.must('room:create')).iceServers).toEqual([STUN]);
    await pass(10 * TTL_MS);
    expect(await ann.must('ice')).toEqual({ ok: true, iceServers: [STUN], ttlMs: 24 * 60 * 60_000 });
    expect(ann.all('ice')).toEqual([]);
  });
});

describe('new ones are pushed', () => {
  test('in the last third of the old ones, and not before', async () => {
    await ann.must('room:create');
    await pass((TTL_MS * 2) / 3);
    expect(ann.all('ice')).toEqual([]);
    await pass(TICK_MS);
    const [push, ...more] = ann.all('ice');
    expect(more).toEqual([]);
    expect(push?.ttlMs).toBe(TTL_MS);
    await expectCredentials(push?.iceServers ?? [], ann, [NEW], TICK_MS);
  });

  test.each([
    ['four ticks', 4 * TICK_MS],
    ['a bit more', 4 * TICK_MS + 7777],
    ['many', 20 * TICK_MS],
  ])('so that some are always good: a life of %s', async (_, turnTtlMs) => {
    await begin({ turnTtlMs });
    let until = expiryOf((await ann.must('room:create')).iceServers);
    for (let step = 0; step < 60; step += 1) {
      await pass(TICK_MS / 3);
      const latest = ann.all('ice').at(-1);
      if (latest !== undefined) until = expiryOf(latest.iceServers);
      expect(until).toBeGreaterThan(clock.now());
    }
    // Two thirds of a life apart at least.
    expect(ann.all('ice').length).toBeLessThanOrEqual(Math.ceil((20 * TICK_MS) / ((turnTtlMs * 2) / 3)));
    expect(ann.all('ice').length).toBeGreaterThan(0);
  });

  test('counted from when they were last asked for', async () => {
    await ann.must('room:create');
    await pass(TTL_MS / 2);
    await ann.must('ice');
    await pass(TTL_MS / 2);
    expect(ann.all('ice')).toEqual([]);
  });

  test('to every member, and to nobody who has left or whose room has ended', async () => {
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

  test('in the next room as in the first', async () => {
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

  test('to who has resumed a seat and asked, in time', async () => {
    const back = await comeBack();
    await expectCredentials((await back.must('ice')).iceServers, back, [NEW]);
    await pass(TTL_MS / 2, back);
    expect(back.all('ice')).toEqual([]);
    await pass(TTL_MS / 2, back);
    expect(back.all('ice')).toHaveLength(1);
  });

  test('to who has resumed a seat and did not ask, at once: what it has is not known here', async () => {
    const back = await comeBack();
    await pass(TICK_MS, back);
    const [push] = back.all('ice');
    await expectCredentials(push?.iceServers ?? [], back, [NEW], TICK_MS);
  });

  test('whether the store answers or not', async () => {
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

/** Ann's connection is lost, and she is back in her seat. */
async function comeBack(): Promise<TestClient> {
  await ann.must('room:create');
  ann.cut();
  const back = await connectClient(nodes.url(0), { resume: tokenOf(ann) });
  expect(back.all('welcome')[0]?.room).not.toBeNull();
  return back;
}

/** Turns the clock, in steps: users are kept by what they ask, and whatever was pushed has come when they are answered. */
async function pass(ms: number, client = ann): Promise<void> {
  for (let left = ms; left > 0; left -= TICK_MS) {
    clock.advance(Math.min(left, TICK_MS));
    await client.must('heartbeat');
  }
}

function expiryOf(iceServers: readonly IceServer[]): number {
  return 1000 * Number(iceServers.at(-1)?.username?.split(':')[0]);
}

/** The list is STUN, then an entry for each secret, signed with it for that very user, not longer ago than that. */
async function expectCredentials(
  iceServers: readonly IceServer[],
  { userId }: TestClient,
  secrets: readonly string[],
  agoMs = 0,
): Promise<void> {
  const until = expiryOf(iceServers);
  expect(until).toBeLessThanOrEqual(clock.now() + TTL_MS);
  expect(until).toBeGreaterThanOrEqual(clock.now() + TTL_MS - agoMs);
  const username = `${until / 1000}:${userId}`;
  const turn = secrets.map(async (secret) => ({ urls: TURN, username, credential: await signedBy(secret, username) }));
  expect(iceServers).toEqual([STUN, ...(await Promise.all(turn))]);
}

/** By the other implementation that there is. */
async function signedBy(secret: string, text: string): Promise<string> {
  const encode = (of: string) => new TextEncoder().encode(of);
  const algorithm = { name: 'HMAC', hash: 'SHA-1' };
  const key = await crypto.subtle.importKey('raw', encode(secret), algorithm, false, ['sign']);
  return Buffer.from(await crypto.subtle.sign('HMAC', key, encode(text))).toString('base64');
}
