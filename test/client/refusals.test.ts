/** Every promise settles: with a result, or with a typed error that says whether and when to try again. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Client, type Room, SignalboxError } from '../../src/client/index.ts';
import { type Nodes, startNodes } from '../support/nodes.ts';
import { freePort } from '../support/process.ts';
import { startProxy } from '../support/proxy.ts';
import { Clients, next, reaches, twoMembers, until } from './harness.ts';

/** Long enough for a create on a busy machine. */
const TIMEOUT_MS = 4000;
const A_LITTLE_MS = 200;
const NEVER = { baseMs: 1e9, maxMs: 1e9 };

let nodes: Nodes;
beforeAll(async () => {
  nodes = await startNodes({ kind: 'memory', count: 1 }, { freeMisses: 1_000_000 });
});
afterAll(() => nodes[Symbol.asyncDispose]());

/** The error that a promise rejects with. */
async function refusal(promise: Promise<unknown>): Promise<SignalboxError> {
  const error = await promise.then(
    () => expect.unreachable('it was granted'),
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(SignalboxError);
  expect(error).toBeInstanceOf(Error);
  return error as SignalboxError;
}

/** The same, in time: compared with a timer of this process, because a busy machine delays both. */
async function refusalInTime(promise: Promise<unknown>): Promise<SignalboxError> {
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
  }, TIMEOUT_MS + A_LITTLE_MS);
  const error = await refusal(promise);
  clearTimeout(timer);
  expect(isLate, 'it settles in time').toBe(false);
  return error;
}

test('a refusal carries the code of the server', async () => {
  await using clients = new Clients();
  const url = nodes.url(0);
  const { ann, ben, room, bens } = await twoMembers(clients, [url, url]);
  const cat = clients.connect(url);
  const dan = clients.connect(url);
  const vacant = room.code === '123456' ? '123457' : '123456';
  const over = await dan.create();
  await over.close();
  await room.update({ maxUsers: 2 });
  const refusals: [string, Promise<unknown>][] = [
    ['ROOM_NOT_FOUND', cat.join(vacant)],
    ['CODE_EXPIRED', cat.join(room.code, { ref: over.ref })],
    ['ROOM_FULL', cat.join(room.code)],
    ['FORBIDDEN', bens.update({ name: 'Mine' })],
    ['FORBIDDEN', bens.kick(room.self.userId)],
    ['FORBIDDEN', bens.close()],
    ['CONFLICT', room.kick(room.self.userId)],
    ['PEER_NOT_FOUND', room.kick('nobody')],
    ['PEER_NOT_FOUND', room.signal('nobody', 'x')],
    ['PAYLOAD_TOO_LARGE', room.message('x'.repeat(5000))],
    ['PAYLOAD_TOO_LARGE', room.signal(bens.self.userId, 'x'.repeat(70_000))],
    ['PAYLOAD_TOO_LARGE', bens.setProfile({ metadata: 'x'.repeat(2000) })],
    ['PAYLOAD_TOO_LARGE', cat.create({ metadata: 'x'.repeat(2000) })],
    ['BAD_REQUEST', room.update({ maxUsers: 1 })],
    ['BAD_REQUEST', bens.setProfile({ name: ' ' })],
    ['BAD_REQUEST', cat.create({ type: 'two words' })],
  ];
  const errors = await Promise.all(refusals.map(([, promise]) => refusal(promise)));
  expect(errors.map(({ code }) => code)).toEqual(refusals.map(([code]) => code));
  for (const error of errors) {
    expect([error.name, error.message !== '']).toEqual(['SignalboxError', true]);
    expect([error.retryable, error.retryAfterMs]).toEqual([false, undefined]);
  }
  await room.update({ locked: true, maxUsers: 8 });
  expect((await refusal(cat.join(room.code))).code).toBe('ROOM_LOCKED');
  for (const client of [ann, ben, cat]) expect(client.state).toBe('online');
  expect([ann.room, ben.room, cat.room]).toEqual([room, bens, null]);
});

test('an invalid room code is refused without a round trip', async () => {
  await using clients = new Clients();
  const client = clients.connect(`http://127.0.0.1:${await freePort()}`);
  for (const typed of ['', '12345', '1234567', '012345', 'abcdef', '12345x']) {
    const error = await refusal(client.join(typed));
    expect([error.code, error.retryable]).toEqual(['BAD_REQUEST', false]);
    expect(error.message).toContain('6 digits');
  }
  expect(client.state).toBe('connecting');
});

test('the welcome tells how many digits a code has', async () => {
  await using others = await startNodes({ kind: 'memory', count: 1 }, { codeDigits: 8 });
  await using clients = new Clients();
  const client = clients.connect(others.url(0));
  expect(client.codeDigits).toBe(6);
  const room = await client.create();
  expect([client.codeDigits, room.code.length]).toEqual([8, 8]);
  expect((await refusal(client.join('123456'))).message).toContain('8 digits');
});

test('a client that has tried too many wrong codes is told when to try again', async () => {
  await using guarded = await startNodes({ kind: 'memory', count: 1 }, { freeMisses: 1 });
  await using clients = new Clients();
  const client = clients.connect(guarded.url(0));
  const error = await lastOf(3, () => refusal(client.join('123456')));
  expect(error).toMatchObject({ code: 'RATE_LIMITED', retryable: true });
  expect(error.retryAfterMs).toBeGreaterThan(0);
});

async function lastOf<Value>(count: number, make: () => Promise<Value>): Promise<Value> {
  for (let done = 1; done < count; done += 1) await make();
  return await make();
}

test('a signal to an away member is refused, and may be tried again', async () => {
  await using proxy = await startProxy(nodes.servers[0]?.port ?? 0);
  await using clients = new Clients();
  const { room, bens } = await twoMembers(clients, [nodes.url(0), `http://127.0.0.1:${proxy.port}`]);
  proxy.cut();
  await until(room, ({ members }) => members[1]?.state === 'away');
  expect(await refusal(room.signal(bens.self.userId, 'x'))).toMatchObject({ code: 'PEER_AWAY', retryable: true });
});

/** Every request of the SDK. */
const requests = (client: Client, room: Room): Readonly<Record<string, () => Promise<unknown>>> => ({
  create: () => client.create(),
  join: () => client.join('123456'),
  signal: () => room.signal('nobody', 'x'),
  message: () => room.message('x'),
  setProfile: () => room.setProfile({ name: 'X' }),
  update: () => room.update({ name: 'X' }),
  kick: () => room.kick('nobody'),
  close: () => room.close(),
  leave: () => room.leave(),
});

describe('a request without an answer fails', () => {
  // They wait most of the time: so they run side by side.
  test.concurrent('in time with UNREACHABLE if there was never a server', async () => {
    await using clients = new Clients();
    const url = `http://127.0.0.1:${await freePort()}`;
    const client = clients.connect(url, { timeoutMs: TIMEOUT_MS });
    const retry = next(client, 'retry');
    for (const error of await Promise.all([client.create(), client.join('123456')].map(refusalInTime))) {
      expect([error.code, error.retryable]).toEqual(['UNREACHABLE', true]);
    }
    expect((await retry).error.code).toBe('UNREACHABLE');
    expect(client.state).toBe('connecting');
  });

  test.concurrent('in time with UNREACHABLE while the client is reconnecting', async () => {
    await using proxy = await startProxy(nodes.servers[0]?.port ?? 0);
    await using clients = new Clients();
    const url = `http://127.0.0.1:${proxy.port}`;
    const options = { timeoutMs: TIMEOUT_MS, backoff: NEVER };
    const all = await eachOfThem(clients, url, options, () => proxy.cut());
    for (const [name, error] of await refusals(all)) {
      expect([name, error.code, error.retryable]).toEqual([name, 'UNREACHABLE', true]);
    }
  });

  test.concurrent('in time with TIMEOUT on a dead connection, even before the client has noticed', async () => {
    await using proxy = await startProxy(nodes.servers[0]?.port ?? 0);
    await using clients = new Clients();
    const url = `http://127.0.0.1:${proxy.port}`;
    const all = await eachOfThem(clients, url, { timeoutMs: TIMEOUT_MS }, () => proxy.freeze());
    for (const [name, error, client] of await refusals(all)) {
      expect([name, client.state, error.code, error.retryable]).toEqual([name, 'online', 'TIMEOUT', true]);
    }
    proxy.thaw();
  });

  test('at once with CLOSED after the end of the client', async () => {
    await using clients = new Clients();
    for (const [name, ask, client] of await eachOfThem(clients, nodes.url(0), {}, () => {})) {
      await client.close();
      if (name === 'leave') await ask();
      else expect(await refusal(ask())).toMatchObject({ code: 'CLOSED', retryable: false });
    }
  });

  test('with CLOSED if the client ends while it waits', async () => {
    await using clients = new Clients();
    const client = clients.connect(`http://127.0.0.1:${await freePort()}`);
    const waiting = [client.create(), client.join('123456'), client.ready()].map(refusal);
    await client.close();
    for (const error of await Promise.all(waiting)) expect(error).toMatchObject({ code: 'CLOSED', retryable: false });
  });

  type Asked = readonly [name: string, ask: () => Promise<unknown>, client: Client];

  const refusals = (all: readonly Asked[]) =>
    Promise.all(all.map(async ([name, ask, client]) => [name, await refusalInTime(ask()), client] as const));

  /** One client with a room for each request: a failed request may change its client. */
  async function eachOfThem(clients: Clients, url: string, options: object, then: () => void): Promise<Asked[]> {
    const names = Object.keys(requests(clients.connect(nodes.url(0)), {} as Room));
    const all = await Promise.all(
      names.map(async (name) => {
        const client = clients.connect(url, options);
        const ask = requests(client, await client.create())[name] ?? expect.unreachable();
        return [name, ask, client] as const;
      }),
    );
    then();
    if ('backoff' in options) await Promise.all(all.map(([, , client]) => reaches(client, 'reconnecting')));
    return all;
  }
});

test('a client that the server rejects is told why, and does not try again', async () => {
  await using proxy = await startProxy(nodes.servers[0]?.port ?? 0);
  await using clients = new Clients();
  const client = clients.connect(`http://127.0.0.1:${proxy.port}`, { token: 'of some back end' });
  const [ready, create] = await Promise.all([refusal(client.ready()), refusal(client.create())]);
  expect([ready.code, create.code, ready.retryable]).toEqual(['UNAUTHENTICATED', 'UNAUTHENTICATED', false]);
  expect(client).toMatchObject({ state: 'closed', ending: { reason: 'refused', error: { code: 'UNAUTHENTICATED' } } });
  expect((await refusal(client.join('123456'))).code).toBe('UNAUTHENTICATED');
});
