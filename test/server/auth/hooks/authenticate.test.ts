/** The hook `authenticate`: the embedding program decides the identity of a client. */
import { randomUUID } from 'node:crypto';
import type { Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { connect } from '../../../../src/client/connect.ts';
import type { Credentials, Hooks } from '../../../../src/index.ts';
import { createServer, type SignalboxServer, silentLog } from '../../../../src/index.ts';
import { connectClient } from '../../../support/client.ts';
import { type Nodes, startNodes, TOPOLOGIES } from '../../../support/nodes.ts';
import { temporaryFolder } from '../../../support/process.ts';
import { startHttpHost } from '../../hosting/http-host.ts';
import { refusedHandshake, tokenOf, welcomeOf } from '../../scenarios/members.ts';

const LOCAL = { host: '127.0.0.1', port: 0, demo: false, secret: 'the secret of these tests' };

const received: Credentials[] = [];
/** Accounts whose tokens have been revoked. */
const revoked = new Set<string>();

/** `user:<id>` is the token of an account; a guest has none. */
const hooks: Hooks = {
  async authenticate(credentials) {
    received.push(credentials);
    const { token, resumed } = credentials;
    const account = /^user:(.+)$/s.exec(token ?? '')?.[1];
    if (revoked.has(account ?? resumed ?? '')) return { refuse: 'This account is closed.' };
    if (token !== undefined && account === undefined) return { refuse: 'No such token.' };
    return account === undefined ? undefined : { userId: account, name: 'Ann Account', metadata: { role: 'teacher' } };
  },
};

for (const topology of TOPOLOGIES) {
  describe(`identities: ${topology.name}`, () => {
    let nodes: Nodes;
    beforeAll(async () => {
      nodes = await startNodes(topology, {}, { hooks });
    });
    afterAll(() => nodes[Symbol.asyncDispose]());

    test('an account has the id, name and metadata from the hook; the id of a guest has a prefix', async () => {
      const id = randomUUID();
      await using ann = await connectClient(nodes.url(0), { token: `user:${id}`, name: 'Other name' });
      await using guest = await connectClient(nodes.url(1), { name: 'Guest' });
      expect(ann.userId).toBe(id);
      expect(guest.userId).toMatch(/^guest-[A-Za-z0-9_-]{22}$/);
      const { room } = await ann.must('room:create');
      expect(room.members).toMatchObject([{ userId: id, name: 'Ann Account', metadata: { role: 'teacher' } }]);
      const { members } = (await guest.must('room:join', { code: room.code })).room;
      expect(members[1]).toMatchObject({ userId: guest.userId, name: 'Guest' });
      expect(members[1]).not.toHaveProperty('metadata');
    });

    test('the same account on a second device takes over the seat', async () => {
      const token = `user:${randomUUID()}`;
      await using first = await connectClient(nodes.url(0), { token });
      const { room } = await first.must('room:create');
      await using second = await connectClient(nodes.url(1), { token });
      await first.next('session:replaced');
      expect(welcomeOf(second).room).toMatchObject({ ref: room.ref, hostId: second.userId });
    });

    test('a refresh keeps the profile that a member has changed since', async () => {
      const token = `user:${randomUUID()}`;
      await using first = await connectClient(nodes.url(0), { token });
      await first.must('room:create');
      await first.must('profile', { metadata: { role: 'listener' } });
      await using second = await connectClient(nodes.url(0), { token, resume: tokenOf(first) });
      const { code, ref } = welcomeOf(second).room ?? expect.unreachable();
      const { room } = await second.must('room:join', { code, ref });
      expect(room.members[0]?.metadata).toEqual({ role: 'listener' });
      await second.must('room:leave');
      const { room: next } = await second.must('room:create');
      expect(next.members[0]?.metadata).toEqual({ role: 'listener' });
    });

    test('the hook receives the user id of a resume token and can refuse a closed account', async () => {
      const id = randomUUID();
      await using ann = await connectClient(nodes.url(0), { token: `user:${id}` });
      await using back = await connectClient(nodes.url(1), { resume: tokenOf(ann) });
      expect(back.userId).toBe(id);
      expect(received.at(-1)).toMatchObject({ token: undefined, resumed: id });
      revoked.add(id);
      for (const auth of [
        { resume: tokenOf(ann) },
        { token: `user:${id}` },
        { token: `user:${id}`, resume: tokenOf(ann) },
      ])
        expect(await refusedHandshake(nodes.url(0), auth)).toMatchObject({
          code: 'UNAUTHENTICATED',
          message: 'This account is closed.',
        });
    });

    test('a resume token of another user, or an invalid one, is ignored beside an identity', async () => {
      await using guest = await connectClient(nodes.url(0));
      const id = randomUUID();
      await using ann = await connectClient(nodes.url(0), { token: `user:${id}`, resume: tokenOf(guest) });
      expect(ann.userId).toBe(id);
      await using again = await connectClient(nodes.url(1), { token: `user:${id}`, resume: 'invalid' });
      expect(again.userId).toBe(id);
      // Without an identity, an invalid resume token is refused.
      expect(await refusedHandshake(nodes.url(0), { resume: 'invalid' })).toMatchObject({ code: 'SESSION_EXPIRED' });
    });
  });
}

/** Runs a server with that hook during `work`. */
async function withHook(
  authenticate: NonNullable<Hooks['authenticate']>,
  work: (server: SignalboxServer) => Promise<void>,
) {
  const server = await createServer(LOCAL, { hooks: { authenticate }, log: silentLog });
  try {
    await work(server);
  } finally {
    await server.close();
  }
}

test('the hook receives the credentials, the address and the headers of the client', async () => {
  const calls: Credentials[] = [];
  await withHook(
    (credentials) => {
      calls.push(credentials);
    },
    async ({ url }) => {
      await using client = await connectClient(url, { token: 't', name: 'Ann' }, { headers: { cookie: 'a=b' } });
      expect(client.userId).toMatch(/^guest-/);
    },
  );
  const headers = expect.objectContaining({ cookie: 'a=b' });
  expect(calls).toEqual([{ token: 't', resumed: undefined, name: 'Ann', address: '127.0.0.1', headers }]);
});

test.each([
  ['empty', ''],
  ['too long', 'x'.repeat(65)],
  ['with a space', 'ann smith'],
  ['not text', 42],
  ['undefined', undefined],
  ['null', null],
  ['the id of a guest', 'guest-AAAAAAAAAAAAAAAAAAAAAA'],
  ['over two lines', 'ann\n'],
])('an identity is refused when its id is %s', async (_, userId) => {
  // The answer of an untyped program.
  await withHook(
    () => ({ userId }) as { userId: string },
    async ({ url }) => {
      const error = await refusedHandshake(url, {});
      expect(error).toMatchObject({ code: 'UNAUTHENTICATED', message: expect.stringContaining('userId') });
    },
  );
});

test.each([
  ['false', false],
  ['a string', 'ann'],
  ['a misspelt refusal', { refused: 'no' }],
  ['a refusal without a reason', { refuse: true }],
])('a client is refused when the hook answers %s', async (_, answer) => {
  await withHook(
    () => answer as unknown as undefined,
    async ({ url }) => {
      expect(await refusedHandshake(url, {})).toMatchObject({
        code: 'INTERNAL',
        message: expect.stringMatching(/logged as/),
      });
    },
  );
});

test('the reason of a refusal is shortened, made well-formed, and replaced when empty', async () => {
  let reason = '';
  await withHook(
    () => ({ refuse: reason }),
    async ({ url }) => {
      for (const [given, message] of [
        ['x'.repeat(1_000_000), 'x'.repeat(256)],
        ['🚂'.repeat(300), '🚂'.repeat(256)],
        ['half \ud83d', 'half \ufffd'],
        ['', 'The server refuses this client.'],
      ] as const) {
        reason = given;
        expect(await refusedHandshake(url, {})).toEqual({ code: 'UNAUTHENTICATED', message, retryable: false });
      }
    },
  );
});

test('the SDK reads the token again for each connection', async () => {
  await using host = await startHttpHost();
  const tokens: (string | undefined)[] = [];
  const server = await createServer(
    {},
    {
      server: host.server,
      hooks: {
        authenticate: ({ token }) => {
          tokens.push(token);
          return { userId: 'ann' };
        },
      },
    },
  );
  let latest = 'first';
  const connections = new Set<Socket>();
  host.server.on('connection', (socket) => connections.add(socket));
  const client = connect(host.url, {
    backoff: { baseMs: 1, maxMs: 1 },
    get token() {
      return latest;
    },
  });
  const { code } = await client.create();
  latest = 'second';
  const resumed = new Promise<void>((resolve) => {
    client.on('state', (state) => state === 'online' && resolve());
  });
  for (const socket of connections) socket.destroy();
  await resumed;
  expect([tokens, client.userId, client.room?.code]).toEqual([['first', 'second'], 'ann', code]);
  await client.close();
  await server.close();
});

test('without the hook a token is refused, and ids have no prefix', async () => {
  const server = await createServer(LOCAL);
  expect(await refusedHandshake(server.url, { token: 't' })).toMatchObject({ code: 'UNAUTHENTICATED' });
  await using client = await connectClient(server.url);
  expect(client.userId).toMatch(/^[A-Za-z0-9_-]{22}$/);
  await server.close();
});

describe('an id that the server issued is never the id of an account', () => {
  test('the counted id of a guest has a prefix', async () => {
    await using folder = await temporaryFolder();
    const server = await createServer({ ...LOCAL, userIds: 'reference', dataDir: folder.path }, { hooks });
    await using guest = await connectClient(server.url);
    expect(guest.userId).toMatch(/^guest-USR\d+$/);
    const account = guest.userId.replace('guest-', '');
    await using ann = await connectClient(server.url, { token: `user:${account}` });
    expect(ann.userId).toBe(account);
    await using back = await connectClient(server.url, { resume: tokenOf(guest) });
    expect(back.userId).toBe(guest.userId);
    await server.close();
  });

  test('a resume token from before the hook is refused', async () => {
    const before = await createServer(LOCAL);
    await using early = await connectClient(before.url);
    const after = await createServer(LOCAL, { hooks });
    // An account with the same id as that earlier client.
    await using ann = await connectClient(after.url, { token: `user:${early.userId}` });
    expect(await refusedHandshake(after.url, { resume: tokenOf(early) })).toMatchObject({ code: 'SESSION_EXPIRED' });
    await using back = await connectClient(after.url, { resume: tokenOf(ann) });
    expect(back.userId).toBe(early.userId);
    await Promise.all([before.close(), after.close()]);
  });
});
