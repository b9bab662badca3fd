/** What back ends are told: every change once, in the order of its room's revisions, as soon as it is true. */
import { expect, vi } from 'vitest';
import type { FeedEvent } from '../../../src/protocol/feed.ts';
import type { RoomSnapshot } from '../../../src/protocol/snapshot.ts';
import { NODE, POLICY, refOf, type Stage } from '../stage.ts';
import { example } from './example.ts';

const read = async (stage: Stage, after?: string, limit = 1_000) => stage.engine.feed.read({ after, limit });

const all = async (stage: Stage): Promise<readonly FeedEvent[]> => (await read(stage)).events;

/** `0 room_created anna` and the like: an event in a line. */
const inWords = (events: readonly FeedEvent[]): string[] =>
  events.map(({ rev, type, userId, ...rest }) =>
    [rev, type, userId ?? '-', 'reason' in rest ? rest.reason : ''].join(' ').trim(),
  );

const withoutMembers = (snapshot: RoomSnapshot) => {
  const { members: _, ...room } = snapshot;
  return room;
};

export const feed = [
  example('a life is told from creation to destruction, a revision each', async (stage) => {
    const room = await stage.room(['anna', 'bert']);
    await stage.updateSeat(room, 'bert', { name: 'Bert' });
    await stage.suspend(room, 'bert');
    await stage.resume(room, 'bert', 2);
    await stage.updateRoom(room, 'anna', { locked: true });
    await stage.leave(room, 'anna');
    await stage.close(room, 'bert', 2);
    expect(inWords(await all(stage))).toEqual([
      '0 room_created anna',
      '1 user_joined anna',
      '2 user_joined bert',
      '3 user_updated bert',
      '4 user_away bert',
      '5 user_back bert',
      '6 room_updated -',
      '7 user_left anna left',
      '8 host_changed bert',
      '9 user_left bert closed',
      '10 room_destroyed - closed',
    ]);
  }),
  example('an event says which, where, when, and what members see', async (stage) => {
    const metadata = '{"a":1.50,"b":[]}';
    const settings = { name: 'Zoë "x" / 🚂', metadata };
    const room = await stage.room(['anna'], { settings, profile: { name: 'A', mediaType: 'video', metadata } });
    stage.clock.advance(5_000);
    await stage.join(room, 'bert', { profile: { metadata: '[]' } });
    const { code, ref } = room;
    const [anna, bert] = ((await stage.seen(room)) as RoomSnapshot).members; // it is there
    const common = { code, ref, serverId: NODE, timestamp: stage.clock.now() - 5_000 };
    expect(await all(stage)).toEqual([
      {
        ...common,
        id: `${ref}:0`,
        type: 'room_created',
        rev: 0,
        userId: 'anna',
        room: { ...withoutMembers(room), rev: 0 },
      },
      { ...common, id: `${ref}:1`, type: 'user_joined', rev: 1, userId: 'anna', member: anna },
      {
        ...common,
        id: `${ref}:2`,
        type: 'user_joined',
        rev: 2,
        userId: 'bert',
        member: bert,
        timestamp: stage.clock.now(),
      },
    ]);
    expect(anna?.metadata).toEqual({ a: 1.5, b: [] });
  }),
  example('what changes nothing is not told', async (stage) => {
    const room = await stage.room(['anna']);
    const before = await all(stage);
    await stage.renew(room, 'anna');
    await stage.updateRoom(room, 'anna', {});
    await stage.join(room, 'anna');
    await stage.leave(room, 'nobody');
    await stage.tick();
    await stage.create('anna', { idempotencyKey: 'once' });
    await stage.create('anna', { idempotencyKey: 'once' });
    expect(inWords((await all(stage)).slice(before.length))).toEqual(['0 room_created anna', '1 user_joined anna']);
  }),
  example('what the tick reaps is told', async (stage) => {
    const room = await stage.room(['anna', 'bert']);
    await stage.suspend(room, 'bert');
    stage.clock.advance(POLICY.graceMs);
    await stage.tick();
    stage.clock.advance(POLICY.idleMs);
    await stage.tick([], 100);
    const lost = inWords(await all(stage)).slice(4);
    expect(lost).toEqual([
      '4 user_left bert lost',
      '5 user_left anna lost',
      '6 host_changed -',
      '7 room_destroyed - idle',
    ]);
  }),
  example(
    'a room that ends with its host is told as the leaving of all who were in it',
    async (stage) => {
      const room = await stage.room(['anna', 'bert', 'cora']);
      await stage.leave(room, 'anna');
      expect(inWords(await all(stage)).slice(4)).toEqual([
        '4 user_left anna left',
        '5 user_left bert host-left',
        '6 user_left cora host-left',
        '7 room_destroyed - host-left',
      ]);
    },
    { policy: { closeOnHostLeave: true } },
  ),
  example('it is read in pages, and each goes on where the last has ended', async (stage) => {
    expect(await read(stage)).toMatchObject({ events: [], lost: 0 });
    const { position: early } = await read(stage);
    await stage.room(['anna', 'bert']);
    const first = await read(stage, early, 2);
    expect(inWords(first.events)).toEqual(['0 room_created anna', '1 user_joined anna']);
    const second = await read(stage, first.position, 2);
    expect(inWords(second.events)).toEqual(['2 user_joined bert']);
    const third = await read(stage, second.position, 2);
    expect(third).toEqual({ events: [], position: second.position, lost: 0 });
    await stage.room(['cora'], { ref: refOf(77) });
    const fourth = await read(stage, third.position);
    expect(inWords(fourth.events)).toEqual(['0 room_created cora', '1 user_joined cora']);
  }),
  example('what nobody has read in time is counted', async (stage) => {
    const room = await stage.room(['anna']);
    const { position } = await read(stage);
    // Twice as many as are kept: both engines let go of them in lumps.
    const changes = Array.from({ length: 2_000 }, (_, index) => stage.updateSeat(room, 'anna', { name: `A${index}` }));
    await Promise.all(changes);
    const page = await read(stage, position, 10);
    const [first] = page.events;
    expect(page.lost).toBeGreaterThan(0);
    expect(page.lost).toBeLessThanOrEqual(1_000);
    expect(first?.rev).toBe(2 + page.lost);
    expect(await read(stage, page.position, 1)).toMatchObject({ lost: 0, events: [{ rev: 2 + page.lost + 10 }] });
    // Who has never read has missed all of it.
    expect(await read(stage, undefined, 1)).toMatchObject({ lost: 2 + page.lost, events: [{ rev: 2 + page.lost }] });
  }),
  example('a position of another life is none', async (stage) => {
    await stage.room(['anna']);
    const page = await read(stage, 'another:1/900');
    expect(inWords(page.events)).toEqual(['0 room_created anna', '1 user_joined anna']);
    expect(page.lost).toBe(0);
  }),
  example('what belongs to no room is told once for a while', async (stage) => {
    const low = { type: 'pool_low', free: 1, occupied: 2, cooling: 3, total: 6 } as const;
    const alarm = {
      type: 'reference_alarm',
      itemType: 'room',
      year: 2026,
      seed: 1,
      inUse: 9,
      continuesAt: 10,
    } as const;
    await stage.engine.feed.announce(low, 60_000);
    await stage.engine.feed.announce(low, 60_000);
    await stage.engine.feed.announce(alarm, 60_000);
    await stage.engine.feed.announce({ ...alarm, itemType: 'user' }, 60_000);
    const nowhere = { code: null, ref: null, rev: null, userId: null, serverId: NODE, timestamp: stage.clock.now() };
    const events = await all(stage);
    expect(events).toEqual([
      { ...low, ...nowhere, id: `pool_low:${stage.clock.now()}` },
      { ...alarm, ...nowhere, id: `reference_alarm:room:${stage.clock.now()}` },
      { ...alarm, itemType: 'user', ...nowhere, id: `reference_alarm:user:${stage.clock.now()}` },
    ]);
  }),
  example(
    'whoever listens hears what this node does, until it listens no more',
    async (stage) => {
      const heard: FeedEvent[] = [];
      const stop = stage.engine.feed.listen((event) => heard.push(event));
      await stage.engine.feed.announce({ type: 'pool_low', free: 1, occupied: 2, cooling: 3, total: 6 }, 1);
      // The channel may be a moment away: what is said before it is heard is not.
      await vi.waitFor(async () => {
        await stage.create('anna', { ref: refOf(900 + heard.length) });
        expect(heard.some(({ type }) => type === 'room_created')).toBe(true);
      });
      const room = await stage.room(['zoe', 'mia'], { ref: refOf(42) });
      await stage.close(room, 'zoe');
      const ofRoom = () => heard.filter(({ ref }) => ref === room.ref);
      await vi.waitFor(() => expect(ofRoom()).toHaveLength(6));
      expect(ofRoom()).toEqual((await all(stage)).filter(({ ref }) => ref === room.ref));
      stop();
      const before = heard.length;
      await stage.room(['bert'], { ref: refOf(43) });
      await stage.read(room.code);
      expect(heard.length).toBe(before);
    },
    { perShard: 90 },
  ),
] as const;
