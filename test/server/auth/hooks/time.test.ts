/** Slow hooks: a time limit, and no seat or session for a client that has disconnected meanwhile. */
import { describe, expect, test } from 'vitest';
import { createServer, type Hooks, silentLog } from '../../../../src/index.ts';
import { connectClient, TestClient } from '../../../support/client.ts';
import { manualClock } from '../../../support/manual-clock.ts';
import { startRedis } from '../../../support/redis.ts';
import { startHttpHost } from '../../hosting/http-host.ts';
import { refusedHandshake } from '../../scenarios/members.ts';

const LOCAL = { host: '127.0.0.1', port: 0, demo: false };

/** A hook that waits for `release`; `called` resolves at its first call. */
function slowHook() {
  let markCalled = () => {};
  let release = () => {};
  const called = new Promise<void>((resolve) => {
    markCalled = resolve;
  });
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const hook = async (): Promise<void> => {
    markCalled();
    await released;
  };
  return { hook, called, release: () => release() };
}

test.each(['authenticate', 'onCreate', 'onJoin'] as const)(
  '%s fails the request when it has not answered after 5 seconds',
  async (name) => {
    const clock = manualClock(Date.now());
    const { hook, called } = slowHook();
    const server = await createServer(LOCAL, { hooks: { [name]: hook } satisfies Hooks, clock, log: silentLog });
    const code = async (): Promise<string> => {
      if (name === 'authenticate') return (await refusedHandshake(server.url, {})).code;
      await using ann = await connectClient(server.url);
      if (name === 'onCreate') return await ann.refused('room:create');
      await using ben = await connectClient(server.url);
      const { room } = await ann.must('room:create');
      const answer = ben.refused('room:join', { code: room.code });
      await called;
      // Meanwhile other requests are answered, also those of the waiting client.
      await ann.must('room:update', { name: 'Yard' });
      await ben.must('heartbeat');
      return await answer;
    };
    const answered = code();
    await called;
    clock.advance(4_999);
    // The request still waits: a later request is answered first.
    expect(await Promise.race([answered, fetch(`${server.url}/healthz`).then(() => 'waiting')])).toBe('waiting');
    clock.advance(1);
    expect(await answered).toBe('INTERNAL');
    await server.close();
  },
);

for (const kind of ['memory', 'redis'] as const) {
  describe(`a client that disconnects before the hook has answered: ${kind}`, () => {
    test.each(['onCreate', 'onJoin'] as const)('takes no seat: %s', async (name) => {
      await using redis = kind === 'redis' ? await startRedis() : undefined;
      await using host = await startHttpHost();
      const { hook, called, release } = slowHook();
      let isSlow = false;
      const server = await createServer(redis ? { redisUrl: redis.url } : {}, {
        server: host.server,
        hooks: { [name]: () => (isSlow ? hook() : undefined) },
      });
      await using ann = await connectClient(host.url);
      const { room } = await ann.must('room:create');
      const gone = new Promise<void>((resolve) => {
        host.server.once('connection', (socket) => socket.once('close', () => setImmediate(resolve)));
      });
      await using ben = await connectClient(host.url);
      isSlow = true;
      const request = name === 'onCreate' ? ben.ask('room:create') : ben.ask('room:join', { code: room.code });
      request.catch(() => {}); // its connection is gone
      await called;
      isSlow = false;
      ben.cut();
      await gone;
      release();
      // Cat's join is processed after Ben's request.
      await using cat = await connectClient(host.url);
      await cat.must('room:join', { code: room.code });
      const { members } = (await ann.must('room:get')).room;
      expect(members.map(({ userId }) => userId)).toEqual([ann.userId, cat.userId]);
      expect((await server.pool()).occupied).toBe(1);
      await server.close();
    });
  });
}

test('a client that disconnects before authenticate has answered leaves no session', async () => {
  await using host = await startHttpHost();
  const { hook, called, release } = slowHook();
  let isSlow = true;
  const server = await createServer(
    {},
    {
      server: host.server,
      hooks: {
        authenticate: async () => {
          if (isSlow) await hook();
          return { userId: 'ann' };
        },
      },
    },
  );
  const gone = new Promise<void>((resolve) => {
    host.server.once('connection', (socket) => socket.once('close', () => setImmediate(resolve)));
  });
  await using early = new TestClient(host.url);
  await called;
  isSlow = false;
  early.cut();
  await gone;
  release();
  await using ann = await connectClient(host.url);
  await ann.must('room:create');
  expect([early.heard, ann.all('session:replaced')]).toEqual([[], []]);
  await server.close();
});

test('the time of authenticate does not count towards the time limit of the handshake', async () => {
  const server = await createServer(
    { ...LOCAL, connectTimeoutMs: 1 },
    {
      hooks: {
        authenticate: async ({ headers }) => {
          // Several round trips take longer than a millisecond on any machine.
          for (let time = 0; time < 20; time += 1) await fetch(`http://${headers.host}/healthz`);
        },
      },
    },
  );
  await using ann = await connectClient(server.url);
  await ann.must('room:create');
  await server.close();
});

test('a client that authenticates while the server closes is refused with DRAINING', async () => {
  await using host = await startHttpHost();
  const [authenticating, creating] = [slowHook(), slowHook()];
  let isSlow = false;
  const server = await createServer(
    {},
    {
      server: host.server,
      hooks: { authenticate: () => (isSlow ? authenticating.hook() : undefined), onCreate: creating.hook },
    },
  );
  await using ann = await connectClient(host.url);
  isSlow = true;
  const refused = refusedHandshake(host.url, {});
  await authenticating.called;
  // A request under way keeps the server from closing.
  ann.ask('room:create').catch(() => {});
  await creating.called;
  const closing = server.close();
  await ann.next('server:drain');
  authenticating.release();
  expect(await refused).toMatchObject({ code: 'DRAINING', retryable: true });
  creating.release();
  await closing;
});

test('a hook that closes its own server does not hang it', async () => {
  const clock = manualClock(Date.now());
  let closing: Promise<void> | undefined;
  const server = await createServer(LOCAL, {
    clock,
    log: silentLog,
    hooks: {
      onCreate: async () => {
        closing = server.close();
        await closing;
      },
    },
  });
  await using ann = await connectClient(server.url);
  const closed = ann.closed();
  const request = ann.ask('room:create');
  request.catch(() => {}); // its connection is closed
  await closed;
  // The close waits for the hook and the hook for the close, until the hook's time limit.
  clock.advance(5_000);
  await closing;
  await expect(fetch(`${server.url}/healthz`)).rejects.toThrow();
});
