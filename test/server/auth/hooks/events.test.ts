/** The events of a node for the embedding program: `events.subscribe` and the hook `onEvent`. */
import { Writable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createServer, type FeedEvent, OptionError } from '../../../../src/index.ts';
import { createLog } from '../../../../src/support/log.ts';
import { connectClient } from '../../../support/client.ts';
import { type Nodes, startNodes, TOPOLOGIES } from '../../../support/nodes.ts';

/** A listener that keeps its events and can wait for one. */
function recordingListener() {
  const received: FeedEvent[] = [];
  const waiting = new Set<() => void>();
  return {
    received,
    listen: (event: FeedEvent): void => {
      received.push(event);
      for (const look of waiting) look();
    },
    /** Resolves with the first event that matches. */
    until: (fits: (event: FeedEvent) => boolean): Promise<FeedEvent> =>
      new Promise((resolve) => {
        const look = () => {
          const found = received.find(fits);
          if (found === undefined) return;
          waiting.delete(look);
          resolve(found);
        };
        waiting.add(look);
        look();
      }),
  };
}

const summaries = (events: readonly FeedEvent[]) => events.map(({ type, rev, userId }) => [type, rev, userId]);

for (const topology of TOPOLOGIES) {
  describe(`events: ${topology.name}`, () => {
    let nodes: Nodes;
    const hook = recordingListener();
    beforeAll(async () => {
      nodes = await startNodes(topology, {}, { hooks: { onEvent: hook.listen } });
    });
    afterAll(() => nodes[Symbol.asyncDispose]());

    test('a listener receives the events of its node, in order and once; the hook of both nodes receives all', async () => {
      const listeners = nodes.servers.map((server) => {
        const listener = recordingListener();
        return { ...listener, stop: server.events.subscribe(listener.listen) };
      });
      const [near, far = near] = listeners;
      if (near === undefined || far === undefined) throw new Error('no node was started');
      await using ann = await connectClient(nodes.url(0), { name: 'Ann' });
      await using ben = await connectClient(nodes.url(1));
      const { room } = await ann.must('room:create', { name: 'Yard' });
      await ben.must('room:join', { code: room.code });
      await ann.must('room:update', { locked: true });
      await ben.must('room:leave');
      await ann.must('room:close');
      const isLast = ({ type, ref }: FeedEvent) => type === 'room_destroyed' && ref === room.ref;
      await Promise.all([near.until(isLast), hook.until(isLast), far.until(({ type }) => type === 'user_left')]);

      const byAnn = [
        ['room_created', 0, ann.userId],
        ['user_joined', 1, ann.userId],
        ['room_updated', 3, null],
        ['user_left', 5, ann.userId],
        ['room_destroyed', 6, null],
      ];
      const byBen = [
        ['user_joined', 2, ben.userId],
        ['user_left', 4, ben.userId],
      ];
      const all = [...byAnn, ...byBen].toSorted((a, b) => Number(a[1]) - Number(b[1]));
      expect(summaries(near.received)).toEqual(near === far ? all : byAnn);
      expect(summaries(far.received)).toEqual(near === far ? all : byBen);
      const ofRoom = hook.received.filter(({ ref }) => ref === room.ref);
      expect(summaries(ofRoom).toSorted((a, b) => Number(a[1]) - Number(b[1]))).toEqual(all);
      expect(near.received[0]).toMatchObject({
        id: `${room.ref}:0`,
        serverId: nodes.servers[0]?.nodeId,
        code: room.code,
        room: { name: 'Yard' },
      });
      for (const { stop } of listeners) stop();
    });

    test('a listener that fails, hangs or changes its event does not affect others; a stopped one receives nothing', async () => {
      const { events } = nodes.servers[0] ?? expect.unreachable();
      const listener = recordingListener();
      const stops = [
        events.subscribe(() => {
          throw new Error('on purpose');
        }),
        events.subscribe(async () => Promise.reject(new Error('on purpose'))),
        events.subscribe(() => new Promise(() => {})),
        events.subscribe((event) => {
          for (const key of Object.keys(event)) Reflect.deleteProperty(event, key);
        }),
        events.subscribe(listener.listen),
      ];
      const stopped = recordingListener();
      events.subscribe(stopped.listen)();
      // A listener that is stopped during the dispatch of an event receives nothing either.
      stops.push(events.subscribe(() => stopLate()));
      const stopLate = events.subscribe(stopped.listen);
      await using ann = await connectClient(nodes.url(0));
      const { room } = await ann.must('room:create');
      await listener.until(({ type, ref }) => type === 'user_joined' && ref === room.ref);
      expect(stopped.received).toEqual([]);
      for (const stop of stops) stop();
      await ann.must('room:close');
      await hook.until(({ type, ref }) => type === 'room_destroyed' && ref === room.ref);
      expect(listener.received.map(({ type }) => type)).toEqual(['room_created', 'user_joined']);
    });
  });
}

test('a listener may read from the server, and stop itself', async () => {
  const server = await createServer({ host: '127.0.0.1', port: 0, demo: false });
  const read = new Promise<string>((resolve) => {
    const stop = server.events.subscribe(async (event) => {
      stop();
      if (event.code === null) return;
      const found = await server.engine.apply({ kind: 'read', code: event.code, ref: event.ref });
      if (found.ok) resolve(found.room.ref);
    });
  });
  await using ann = await connectClient(server.url);
  const { room } = await ann.must('room:create');
  expect(await read).toBe(room.ref);
  await server.close();
});

test('a failure of a listener is logged', async () => {
  const lines: string[] = [];
  const destination = new Writable({
    write(chunk, _encoding, done) {
      lines.push(String(chunk));
      done();
    },
  });
  let fail = () => {};
  const failed = new Promise<void>((resolve) => {
    fail = resolve;
  });
  const server = await createServer(
    { host: '127.0.0.1', port: 0, demo: false },
    {
      log: createLog('error', destination),
      hooks: {
        onEvent: ({ type }) => {
          if (type === 'user_joined') fail();
          throw new Error('on purpose');
        },
      },
    },
  );
  await using ann = await connectClient(server.url);
  const { room } = await ann.must('room:create');
  await failed;
  await server.close();
  const ofRoom = lines.map((line) => JSON.parse(line)).filter(({ event }) => event?.startsWith(room.ref));
  expect(ofRoom.slice(0, 2)).toMatchObject([
    { event: `${room.ref}:0`, err: { message: 'on purpose' }, msg: 'a listener of events failed' },
    { event: `${room.ref}:1` },
  ]);
});

test('without a feed a subscription is refused with the name of the option', async () => {
  const options = { host: '127.0.0.1', port: 0, demo: false, feedMaxEvents: 0 };
  await expect(createServer(options, { hooks: { onEvent: () => {} } })).rejects.toThrow(OptionError);
  const server = await createServer(options);
  expect(() => server.events.subscribe(() => {})).toThrow(/^feedMaxEvents: /);
  await server.close();
});
