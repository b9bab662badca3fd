/** Rare behaviour of a server, produced on purpose by a scripted one. */
import { expect, test, vi } from 'vitest';
import type { ErrorCode } from '../../src/client/index.ts';
import { errorBody } from '../../src/protocol/errors.ts';
import type { Member, RoomSnapshot } from '../../src/protocol/snapshot.ts';
import { code, refOf, user } from '../room/fixtures.ts';
import { Clients, eventsOf, next, reaches, until } from './harness.ts';
import { startScriptedServer } from './scripted-server.ts';

const member = (name: string, seq: number, more: Partial<Member> = {}): Member => ({
  userId: user(name),
  name,
  role: seq === 1 ? 'host' : 'member',
  state: 'present',
  seq,
  joinedAt: seq,
  ...more,
});

/** A room with these members, at that revision. */
const room = (rev: number, ...members: Member[]): RoomSnapshot => ({
  code: code('482913'),
  ref: refOf(1),
  rev,
  name: null,
  type: 'call',
  maxUsers: 8,
  access: 'open',
  locked: false,
  hostId: user('ann'),
  createdAt: 0,
  expiresAt: 1,
  members,
});
const ANN = member('ann', 1);
const ME = member('me', 2);
const BEN = member('ben', 3);
const place = { code: code('482913'), ref: refOf(1) };
const refused = (code: ErrorCode) => ({ ok: false, error: errorBody(code) }) as const;
const joined = { ok: true, room: room(2, ANN, ME), iceServers: [] } as const;

test('pushes that overtake the answer to a join are held, and reported in order', async () => {
  await using server = await startScriptedServer(null, (name, _, say) => {
    if (name !== 'room:join') return undefined;
    say('member:joined', { ...place, rev: 2, member: ME });
    say('member:away', { ...place, rev: 4, userId: 'ben' });
    say('member:joined', { ...place, rev: 3, member: BEN });
    say('signal', { from: 'ben', data: 'offer', ref: place.ref });
    say('message', { from: 'ann', data: 'hello', ref: place.ref });
    // Of another room: perhaps one that was requested before.
    say('member:joined', { ...place, ref: refOf(9), rev: 3, member: member('cat', 4) });
    say('message', { from: 'cat', data: 'elsewhere', ref: refOf(9) });
    return joined;
  });
  await using clients = new Clients();
  const client = clients.connect(server.url);
  const told: string[] = [];
  client.on('room', (it) => {
    it.on('change', ({ room: { rev } }) => told.push(`rev ${rev}`));
    it.on('message', ({ data }) => told.push(JSON.stringify(data)));
    it.on('signal', ({ data }) => told.push(JSON.stringify(data)));
  });
  const seat = await client.join(place.code);
  expect(seat.members).toEqual([ANN, ME, { ...BEN, state: 'away' }]);
  expect(told).toEqual(['rev 3', 'rev 4', '"offer"', '"hello"']);
  expect(server.asked.filter((name) => name === 'room:get')).toEqual([]);
});

test.each([
  [
    'a gap in the revisions',
    (say: (name: string, body: object) => void) => say('member:away', { ...place, rev: 5, userId: 'ann' }),
  ],
  [
    'a greater revision in `room:rev`',
    (say: (name: string, body: object) => void) => say('room:rev', { ...place, rev: 5 }),
  ],
] as const)('%s makes the client read the room', async (_, tell) => {
  const truth = room(5, { ...ANN, state: 'away' }, ME, BEN);
  await using server = await startScriptedServer(null, (name) => {
    if (name === 'room:join') return joined;
    if (name === 'heartbeat') return { ok: true, now: 0, rev: 2 };
    return name === 'room:get' ? { ok: true, ...place, rev: 5, room: truth } : undefined;
  });
  await using clients = new Clients();
  const seat = await clients.connect(server.url).join(place.code);
  const told = eventsOf(seat);
  tell((name, body) => server.say(name, body));
  await until(seat, ({ rev }) => rev === 5);
  expect(seat.snapshot).toEqual(truth);
  expect(told.sort()).toEqual(['member:away ann', 'member:joined ben']);
  expect(server.asked.filter((name) => name === 'room:get')).toHaveLength(1);
});

test('a read that is refused is tried again, after the wait that the server asks for', async () => {
  const reads: number[] = [];
  await using server = await startScriptedServer(null, (name) => {
    if (name === 'room:join') return joined;
    if (name === 'heartbeat') return { ok: true, now: 0, rev: 2 };
    if (name !== 'room:get') return undefined;
    reads.push(performance.now());
    if (reads.length > 2) return { ok: true, ...place, rev: 5, room: room(5, ANN, ME, BEN) };
    return { ok: false, error: errorBody('STORE_UNAVAILABLE', { retryAfterMs: 400 }) };
  });
  await using clients = new Clients();
  const seat = await clients.connect(server.url).join(place.code);
  server.say('member:joined', { ...place, rev: 5, member: BEN });
  await until(seat, ({ rev }) => rev === 5);
  expect(reads).toHaveLength(3);
  for (const [index, at] of reads.slice(1).entries()) expect(at - (reads[index] ?? 0)).toBeGreaterThan(398);
});

test('the room is read when a heartbeat brings another revision, and only then', async () => {
  let rev = 2;
  let beats = 0;
  await using server = await startScriptedServer(null, (name, payload) => {
    if (name === 'room:join') return joined;
    if (name === 'room:get') return { ok: true, ...place, rev, room: room(rev, ANN, ME, BEN) };
    if (name !== 'heartbeat') return undefined;
    beats += 1;
    expect(payload).toEqual({ rev: expect.any(Number) });
    return { ok: true, now: 0, rev };
  });
  await using clients = new Clients();
  const seat = await clients.connect(server.url).join(place.code);
  await vi.waitFor(() => expect(beats).toBeGreaterThan(3));
  expect(server.asked).not.toContain('room:get');
  rev = 3;
  await until(seat, ({ members }) => members.length === 3);
  expect(seat.rev).toBe(3);
});

test('a read that finds the room unchanged leaves it as it is, and the next one is not kept waiting', async () => {
  const known: unknown[] = [];
  await using server = await startScriptedServer(null, (name, payload) => {
    if (name === 'room:join') return joined;
    if (name === 'heartbeat') return { ok: true, now: 0, rev: 2 };
    if (name !== 'room:get') return undefined;
    known.push(payload);
    // The first read was answered before the store had the change that the client has been told of.
    return { ok: true, ref: place.ref, rev: 2, ...(known.length > 1 && { rev: 4, room: room(4, ANN, ME, BEN) }) };
  });
  await using clients = new Clients();
  const seat = await clients.connect(server.url).join(place.code);
  server.say('member:updated', { ...place, rev: 4, member: ANN });
  await until(seat, ({ rev }) => rev === 4);
  expect(known).toEqual([{ rev: 2 }, { rev: 2 }]);
  expect(seat.members).toEqual([ANN, ME, BEN]);
});

test.each([
  ['has the client in no room', (): object => refused('NOT_IN_ROOM')],
  [
    'has the client in another room',
    (): object => ({
      ok: true,
      ref: refOf(2),
      rev: 7,
      room: { ...room(7, ANN, ME), ref: refOf(2), code: code('111111') },
    }),
  ],
  ['has the client in another room, of the same revision', (): object => ({ ok: true, ref: refOf(2), rev: 2 })],
] as const)('a server that %s: the client takes a seat in its room again', async (_, get) => {
  const joins: unknown[] = [];
  await using server = await startScriptedServer(null, (name, payload) => {
    if (name === 'heartbeat') return { ok: true, now: 0, rev: joins.length > 1 ? 4 : null };
    if (name === 'room:get') return get() as ReturnType<typeof refused>;
    if (name !== 'room:join') return undefined;
    joins.push(payload);
    return joins.length === 1 ? joined : { ...joined, room: room(4, ANN, { ...ME, seq: 3 }) };
  });
  await using clients = new Clients();
  const client = clients.connect(server.url);
  const seat = await client.join(place.code, { profile: { name: 'me', metadata: { hand: 1 } } });
  await next(seat, 'rejoined');
  expect(seat.ref).toBe(place.ref);
  expect(joins[1]).toEqual({ ...place, profile: { name: 'me' } });
  expect([client.room, seat.self.seq]).toEqual([seat, 3]);
});

test.each([
  ['a ban', true, 'banned'],
  ['no ban', false, 'kicked'],
  ['nothing more', null, 'kicked'],
] as const)('a client that is kicked, told by the room first and then with %s', async (_, banned, reason) => {
  await using server = await startScriptedServer(null, (name, _payload, say) => {
    if (name === 'room:join') return joined;
    if (name === 'heartbeat') return { ok: true, now: 0, rev: null };
    if (name !== 'room:get') return undefined;
    if (banned !== null) say('session:kicked', { ...place, banned });
    return refused('NOT_IN_ROOM');
  });
  await using clients = new Clients();
  const client = clients.connect(server.url);
  const seat = await client.join(place.code);
  server.say('member:left', { ...place, rev: 3, userId: 'me', reason: 'kicked' });
  await reaches(client, 'closed');
  expect([client.ending, seat.ending]).toEqual([{ reason }, { reason }]);
  expect(server.asked.filter((name) => name === 'room:join')).toHaveLength(1);
});

test('fresh ICE servers are reported once, and equal ones are not', async () => {
  const iceServers = [{ urls: ['turn:example.org'], username: 'a', credential: 'b' }];
  await using server = await startScriptedServer(null, (name) => (name === 'room:join' ? joined : undefined));
  await using clients = new Clients();
  const seat = await clients.connect(server.url).join(place.code);
  const told: unknown[] = [];
  seat.on('ice', (servers) => told.push(servers));
  for (const _ of [1, 2]) server.say('ice', { iceServers, ttlMs: 1000 });
  server.say('message', { from: 'ann', data: 'barrier', ref: place.ref });
  await next(seat, 'message');
  expect(told).toEqual([iceServers]);
  expect(seat.iceServers).toEqual(iceServers);
});

test('pushes of unknown names are ignored, whatever their bodies', async () => {
  await using server = await startScriptedServer(null, (name) => (name === 'room:join' ? joined : undefined));
  await using clients = new Clients();
  const client = clients.connect(server.url);
  const seat = await client.join(place.code);
  for (const body of [[], [null], [1], ['x', 2], [{ ref: place.ref, rev: 3 }]]) server.say('of:tomorrow', ...body);
  server.say('toString', { ref: place.ref, rev: 3 });
  server.say('message', { from: 'ann', data: 'barrier', ref: place.ref });
  await next(seat, 'message');
  expect([client.state, seat.rev]).toEqual(['online', 2]);
});

test('a client that is in no room frees a seat that the server has for it', async () => {
  await using server = await startScriptedServer(null, (name) =>
    name === 'heartbeat' ? { ok: true, now: 0, rev: 7 } : undefined,
  );
  await using clients = new Clients();
  const client = clients.connect(server.url);
  await client.ready();
  await vi.waitFor(() => expect(server.asked).toContain('room:leave'));
  expect([client.room, client.state]).toEqual([null, 'online']);
});

test('a room that is given another code keeps its ref and members, and tells its listeners the new code', async () => {
  await using server = await startScriptedServer(room(2, ANN, ME), (name) =>
    name === 'room:get'
      ? { ok: true, ref: place.ref, rev: 1_000_003, room: { ...room(1_000_003, ANN, ME, BEN), code: code('513913') } }
      : undefined,
  );
  await using clients = new Clients();
  const it = await clients.connect(server.url).ready();
  if (it === null) throw new Error('the welcome has a room');
  const told: unknown[] = [];
  for (const name of ['room:code-changed', 'member:joined', 'ended'] as const)
    it.on(name, (body) => told.push([name, (body as { code?: string }).code]));
  server.say('room:code-changed', { ...place, code: '513913', previousCode: '482913', rev: 1_000_003 });
  await until(it, ({ rev }) => rev === 1_000_003);
  expect(told).toEqual([
    ['room:code-changed', '513913'],
    ['member:joined', undefined],
  ]);
  expect({ code: it.code, ref: it.ref }).toEqual({ code: '513913', ref: place.ref });
});

test('a code that was changed while a client was away is told like one that is pushed', async () => {
  await using server = await startScriptedServer(room(2, ANN, ME), (name) =>
    name === 'room:get'
      ? { ok: true, ref: place.ref, rev: 3, room: { ...room(3, ANN, ME), code: code('513913') } }
      : undefined,
  );
  await using clients = new Clients();
  const it = await clients.connect(server.url).ready();
  if (it === null) throw new Error('the welcome has a room');
  const changed = next(it, 'room:code-changed');
  server.say('room:rev', { ...place, rev: 3 });
  expect(await changed).toEqual({ code: '513913', previousCode: '482913' });
});
