/** Hooks that take their time: nobody waits for ever, and nothing is taken for who has gone meanwhile. */
import { describe, expect, test } from 'vitest';
import { createServer, type Hooks, silentLog } from '../../../../src/index.ts';
import { connectClient, TestClient } from '../../../support/client.ts';
import { manualClock } from '../../../support/manual-clock.ts';
import { startRedis } from '../../../support/redis.ts';
import { startHttpHost } from '../../hosting/http-host.ts';
import { refusedHandshake } from '../../scenarios/members.ts';

const LOCAL = { host: '127.0.0.1', port: 0, demo: false };

/** A hook that waits until it is told to go on, and says when it has been called. */
function slowHook() {
  let called = () => {};
  let release = () => {};
  const asked = new Promise<void>((resolve) => {
    called = resolve;
  });
  const goesOn = new Promise<void>((resolve) => {
    release = resolve;
  });
  const hook = async (): Promise<void> => {
    called();
    await goesOn;
  };
  return { hook, asked, release: () => release() };
}

test.each(['authenticate', 'onCreate', 'onJoin'] as const)(
  '%s that never answers is a fault after 5 seconds',
  async (name) => {
    const clock = manualClock(Date.now());
    const { hook, asked } = slowHook();
    const server = await createServer(LOCAL, { hooks: { [name]: hook } satisfies Hooks, clock, log: silentLog });
    const code = async (): Promise<string> => {
      if (name === 'authenticate') return (await refusedHandshake(server.url, {})).code;
      await using ann = await connectClient(server.url);
      if (name === 'onCreate') return await ann.refused('room:create');
      await using ben = await connectClient(server.url);
      const { room } = await ann.must('room:create');
      const answer = ben.refused('room:join', { code: room.code });
      await asked;
      // Nobody else is held up, not even the one who waits.
      await ann.must('room:update', { name: 'Yard' });
      await ben.must('heartbeat');
      return await answer;
    };
    const answered = code();
    await asked;
    clock.advance(4_999);
    // It is still waited for: what has been asked since is answered first.
    expect(await Promise.race([answered, fetch(`${server.url}/healthz`).then(() => 'waiting')])).toBe('waiting');
    clock.advance(1);
    expect(await answered).toBe('INTERNAL');
    await server.close();
  },
);

for (const kind of ['memory', 'redis'] as const) {
  describe(`gone before the hook has answered: ${kind}`, () => {
    test.each(['onCreate', 'onJoin'] as const)('%s: no seat is taken', async (name) => {
      await using redis = kind === 'redis' ? await startRedis() : undefined;
      await using host = await startHttpHost();
      const { hook, asked, release } = slowHook();
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
      await asked;
      isSlow = false;
      ben.cut();
      await gone;
      release();
      // Asked for later, so done later: whatever Ben's request has done is done by then.
      await using cat = await connectClient(host.url);
      await cat.must('room:join', { code: room.code });
      const { members } = (await ann.must('room:get')).room;
      expect(members.map(({ userId }) => userId)).toEqual([ann.userId, cat.userId]);
      expect((await server.pool()).occupied).toBe(1);
      await server.close();
    });
  });
}

test('who is gone before authenticate has answered leaves no session behind', async () => {
  await using host = await startHttpHost();
  const { hook, asked, release } = slowHook();
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
  await asked;
  isSlow = false;
  early.cut();
  await gone;
  release();
  await using ann = await connectClient(host.url);
  await ann.must('room:create');
  expect([early.heard, ann.all('session:replaced')]).toEqual([[], []]);
  await server.close();
});

test('the time of authenticate is not taken from that of the handshake', async () => {
  const server = await createServer(
    { ...LOCAL, connectTimeoutMs: 1 },
    {
      hooks: {
        authenticate: async ({ headers }) => {
          // Some ways to and fro: longer than a millisecond, however fast the machine is.
          for (let time = 0; time < 20; time += 1) await fetch(`http://${headers.host}/healthz`);
        },
      },
    },
  );
  await using ann = await connectClient(server.url);
  await ann.must('room:create');
  await server.close();
});

test('who is let in when the server is about to close is sent elsewhere', async () => {
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
  await authenticating.asked;
  // What is under way is waited for, so the server does not close before this is.
  ann.ask('room:create').catch(() => {});
  await creating.asked;
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
  // The one waits for the other, until the hook's time is over.
  clock.advance(5_000);
  await closing;
  await expect(fetch(`${server.url}/healthz`)).rejects.toThrow();
});
