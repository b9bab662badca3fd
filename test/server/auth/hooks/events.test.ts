/** The events of a node for the program that it runs in. */
import { Writable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createServer, type FeedEvent, OptionError } from '../../../../src/index.ts';
import { createLog } from '../../../../src/support/log.ts';
import { connectClient } from '../../../support/client.ts';
import { type Nodes, startNodes, TOPOLOGIES } from '../../../support/nodes.ts';

/** Remembers events, and says when one has come. */
function listener() {
  const heard: FeedEvent[] = [];
  const waiting = new Set<() => void>();
  return {
    heard,
    hear: (event: FeedEvent): void => {
      heard.push(event);
      for (const look of waiting) look();
    },
    /** Resolves when such an event has come. */
    until: (fits: (event: FeedEvent) => boolean): Promise<FeedEvent> =>
      new Promise((resolve) => {
        const look = () => {
          const found = heard.find(fits);
          if (found === undefined) return;
          waiting.delete(look);
          resolve(found);
        };
        waiting.add(look);
        look();
      }),
  };
}

const inShort = (events: readonly FeedEvent[]) => events.map(({ type, rev, userId }) => [type, rev, userId]);

for (const topology of TOPOLOGIES) {
  describe(`events: ${topology.name}`, () => {
    let nodes: Nodes;
    const hook = listener();
    beforeAll(async () => {
      nodes = await startNodes(topology, {}, { hooks: { onEvent: hook.hear } });
    });
    afterAll(() => nodes[Symbol.asyncDispose]());

    test('each node hears what it has done, in order and once; the hook, which both have, hears all', async () => {
      const ears = nodes.servers.map((server) => {
        const ear = listener();
        return { ...ear, stop: server.events.subscribe(ear.hear) };
      });
      const [near, far = near] = ears;
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
      expect(inShort(near.heard)).toEqual(near === far ? all : byAnn);
      expect(inShort(far.heard)).toEqual(near === far ? all : byBen);
      const ofRoom = hook.heard.filter(({ ref }) => ref === room.ref);
      expect(inShort(ofRoom).toSorted((a, b) => Number(a[1]) - Number(b[1]))).toEqual(all);
      expect(near.heard[0]).toMatchObject({
        id: `${room.ref}:0`,
        serverId: nodes.servers[0]?.nodeId,
        code: room.code,
        room: { name: 'Yard' },
      });
      for (const { stop } of ears) stop();
    });

    test('a listener that fails, hangs or spoils what it hears disturbs nobody; one that has ended hears no more', async () => {
      const { events } = nodes.servers[0] ?? expect.unreachable();
      const ear = listener();
      const stops = [
        events.subscribe(() => {
          throw new Error('on purpose');
        }),
        events.subscribe(async () => Promise.reject(new Error('on purpose'))),
        events.subscribe(() => new Promise(() => {})),
        events.subscribe((event) => {
          for (const key of Object.keys(event)) Reflect.deleteProperty(event, key);
        }),
        events.subscribe(ear.hear),
      ];
      const ended = listener();
      events.subscribe(ended.hear)();
      // Even one that is ended while its event is on the way.
      stops.push(events.subscribe(() => endLate()));
      const endLate = events.subscribe(ended.hear);
      await using ann = await connectClient(nodes.url(0));
      const { room } = await ann.must('room:create');
      await ear.until(({ type, ref }) => type === 'user_joined' && ref === room.ref);
      expect(ended.heard).toEqual([]);
      for (const stop of stops) stop();
      await ann.must('room:close');
      await hook.until(({ type, ref }) => type === 'room_destroyed' && ref === room.ref);
      expect(ear.heard.map(({ type }) => type)).toEqual(['room_created', 'user_joined']);
    });
  });
}

test('a listener may ask the server, and end itself', async () => {
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

test('what goes wrong with a listener is logged', async () => {
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

test('without a feed there are no events, and who wants some is told', async () => {
  const options = { host: '127.0.0.1', port: 0, demo: false, feedMaxEvents: 0 };
  await expect(createServer(options, { hooks: { onEvent: () => {} } })).rejects.toThrow(OptionError);
  const server = await createServer(options);
  expect(() => server.events.subscribe(() => {})).toThrow(/^feedMaxEvents: /);
  await server.close();
});
