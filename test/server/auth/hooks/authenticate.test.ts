/** Who a client is, where the program around the server says so. */
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

const asked: Credentials[] = [];
/** Accounts whose tokens are no good any more. */
const revoked = new Set<string>();

/** `user:<id>` is the token of an account; a guest has none. */
const hooks: Hooks = {
  async authenticate(credentials) {
    asked.push(credentials);
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

    test('an account is who the hook says, by its name and metadata; a guest is marked', async () => {
      const id = randomUUID();
      await using ann = await connectClient(nodes.url(0), { token: `user:${id}`, name: 'Whoever' });
      await using guest = await connectClient(nodes.url(1), { name: 'Guest' });
      expect(ann.userId).toBe(id);
      expect(guest.userId).toMatch(/^guest-[A-Za-z0-9_-]{22}$/);
      const { room } = await ann.must('room:create');
      expect(room.members).toMatchObject([{ userId: id, name: 'Ann Account', metadata: { role: 'teacher' } }]);
      const { members } = (await guest.must('room:join', { code: room.code })).room;
      expect(members[1]).toMatchObject({ userId: guest.userId, name: 'Guest' });
      expect(members[1]).not.toHaveProperty('metadata');
    });

    test('the same account on a second device takes the seat over', async () => {
      const token = `user:${randomUUID()}`;
      await using first = await connectClient(nodes.url(0), { token });
      const { room } = await first.must('room:create');
      await using second = await connectClient(nodes.url(1), { token });
      await first.next('session:replaced');
      expect(welcomeOf(second).room).toMatchObject({ ref: room.ref, hostId: second.userId });
    });

    test('a refresh keeps what a member has said of itself since', async () => {
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

    test('a resume token is told to the hook, and does not bring a closed account back', async () => {
      const id = randomUUID();
      await using ann = await connectClient(nodes.url(0), { token: `user:${id}` });
      await using back = await connectClient(nodes.url(1), { resume: tokenOf(ann) });
      expect(back.userId).toBe(id);
      expect(asked.at(-1)).toMatchObject({ token: undefined, resumed: id });
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

    test('a resume token of somebody else is ignored beside an identity, and so is one that is no good', async () => {
      await using guest = await connectClient(nodes.url(0));
      const id = randomUUID();
      await using ann = await connectClient(nodes.url(0), { token: `user:${id}`, resume: tokenOf(guest) });
      expect(ann.userId).toBe(id);
      await using again = await connectClient(nodes.url(1), { token: `user:${id}`, resume: 'no good' });
      expect(again.userId).toBe(id);
      // Without an identity it decides, as ever.
      expect(await refusedHandshake(nodes.url(0), { resume: 'no good' })).toMatchObject({ code: 'SESSION_EXPIRED' });
    });
  });
}

/** What a hook answers in one test. */
async function withAnswer(
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

test('the hook is told what the client says, and where it comes from', async () => {
  const told: Credentials[] = [];
  await withAnswer(
    (credentials) => {
      told.push(credentials);
    },
    async ({ url }) => {
      await using client = await connectClient(url, { token: 't', name: 'Ann' }, { headers: { cookie: 'a=b' } });
      expect(client.userId).toMatch(/^guest-/);
    },
  );
  const headers = expect.objectContaining({ cookie: 'a=b' });
  expect(told).toEqual([{ token: 't', resumed: undefined, name: 'Ann', address: '127.0.0.1', headers }]);
});

test.each([
  ['empty', ''],
  ['too long', 'x'.repeat(65)],
  ['with a space', 'ann smith'],
  ['not text', 42],
  ['undefined', undefined],
  ['null', null],
  ['that of a guest', 'guest-AAAAAAAAAAAAAAAAAAAAAA'],
  ['over two lines', 'ann\n'],
])('an identity whose id is %s is nobody’s', async (_, userId) => {
  // What a program without types might give.
  await withAnswer(
    () => ({ userId }) as { userId: string },
    async ({ url }) => {
      const error = await refusedHandshake(url, {});
      expect(error).toMatchObject({ code: 'UNAUTHENTICATED', message: expect.stringContaining('userId') });
    },
  );
});

test.each([
  ['false', false],
  ['a text', 'ann'],
  ['a misspelt refusal', { refused: 'no' }],
  ['a refusal without a reason', { refuse: true }],
])('a hook that answers %s has not let anybody in', async (_, answer) => {
  await withAnswer(
    () => answer as unknown as undefined,
    async ({ url }) => {
      expect(await refusedHandshake(url, {})).toMatchObject({
        code: 'INTERNAL',
        message: expect.stringMatching(/logged as/),
      });
    },
  );
});

test('a reason is told as far as it is one', async () => {
  let reason = '';
  await withAnswer(
    () => ({ refuse: reason }),
    async ({ url }) => {
      for (const [given, told] of [
        ['x'.repeat(1_000_000), 'x'.repeat(256)],
        ['🚂'.repeat(300), '🚂'.repeat(256)],
        ['half \ud83d', 'half \ufffd'],
        ['', 'The server refuses this client.'],
      ] as const) {
        reason = given;
        expect(await refusedHandshake(url, {})).toEqual({ code: 'UNAUTHENTICATED', message: told, retryable: false });
      }
    },
  );
});

test('the SDK asks for the latest token whenever it connects', async () => {
  await using host = await startHttpHost();
  const told: (string | undefined)[] = [];
  const server = await createServer(
    {},
    {
      server: host.server,
      hooks: {
        authenticate: ({ token }) => {
          told.push(token);
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
  expect([told, client.userId, client.room?.code]).toEqual([['first', 'second'], 'ann', code]);
  await client.close();
  await server.close();
});

test('without the hook a token is refused, and ids are not marked', async () => {
  const server = await createServer(LOCAL);
  expect(await refusedHandshake(server.url, { token: 't' })).toMatchObject({ code: 'UNAUTHENTICATED' });
  await using client = await connectClient(server.url);
  expect(client.userId).toMatch(/^[A-Za-z0-9_-]{22}$/);
  await server.close();
});

describe('nobody becomes an account by an id that the server gave', () => {
  test('counted ids of guests are no ids of accounts', async () => {
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

  test('nor does a token from before there were accounts', async () => {
    const before = await createServer(LOCAL);
    await using early = await connectClient(before.url);
    const after = await createServer(LOCAL, { hooks });
    // An account of the very id that was given away by chance.
    await using ann = await connectClient(after.url, { token: `user:${early.userId}` });
    expect(await refusedHandshake(after.url, { resume: tokenOf(early) })).toMatchObject({ code: 'SESSION_EXPIRED' });
    await using back = await connectClient(after.url, { resume: tokenOf(ann) });
    expect(back.userId).toBe(early.userId);
    await Promise.all([before.close(), after.close()]);
  });
});
