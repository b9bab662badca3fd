/** What back ends are told: every change once, in the order of its room's revisions, as soon as it is true. */
import { expect, vi } from 'vitest';
import type { FeedEvent } from '../../../src/protocol/feed.ts';
import type { RoomSnapshot } from '../../../src/protocol/snapshot.ts';
import { POLICY, refOf } from '../../room/fixtures.ts';
import { type EngineHarness, NODE } from '../harness.ts';
import { example } from './example.ts';

const read = async (harness: EngineHarness, after?: string, limit = 1_000) =>
  harness.engine.feed.read({ after, limit });

const all = async (harness: EngineHarness): Promise<readonly FeedEvent[]> => (await read(harness)).events;

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
  example('the feed has every event of a room from creation to destruction, one revision each', async (harness) => {
    const room = await harness.room(['anna', 'bert']);
    await harness.updateSeat(room, 'bert', { name: 'Bert' });
    await harness.suspend(room, 'bert');
    await harness.resume(room, 'bert', 2);
    await harness.updateRoom(room, 'anna', { locked: true });
    await harness.leave(room, 'anna');
    await harness.close(room, 'bert', 2);
    expect(inWords(await all(harness))).toEqual([
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
  example('an event has its id, its node, its time, and what members see', async (harness) => {
    const metadata = '{"a":1.50,"b":[]}';
    const settings = { name: 'Zoë "x" / 🚂', metadata };
    const room = await harness.room(['anna'], { settings, profile: { name: 'A', mediaType: 'video', metadata } });
    harness.clock.advance(5_000);
    await harness.join(room, 'bert', { profile: { metadata: '[]' } });
    const { code, ref } = room;
    const [anna, bert] = ((await harness.snapshot(room)) as RoomSnapshot).members; // it is there
    const common = { code, ref, serverId: NODE, timestamp: harness.clock.now() - 5_000 };
    expect(await all(harness)).toEqual([
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
        timestamp: harness.clock.now(),
      },
    ]);
    expect(anna?.metadata).toEqual({ a: 1.5, b: [] });
  }),
  example('a command that changes nothing adds no event', async (harness) => {
    const room = await harness.room(['anna']);
    const before = await all(harness);
    await harness.renew(room, 'anna');
    await harness.updateRoom(room, 'anna', {});
    await harness.join(room, 'anna');
    await harness.leave(room, 'nobody');
    await harness.tick();
    await harness.create('anna', { idempotencyKey: 'once' });
    await harness.create('anna', { idempotencyKey: 'once' });
    expect(inWords((await all(harness)).slice(before.length))).toEqual(['0 room_created anna', '1 user_joined anna']);
  }),
  example('a tick adds the events of what it reaps', async (harness) => {
    const room = await harness.room(['anna', 'bert']);
    await harness.suspend(room, 'bert');
    harness.clock.advance(POLICY.graceMs);
    await harness.tick();
    harness.clock.advance(POLICY.idleMs);
    await harness.tick([], 100);
    const lost = inWords(await all(harness)).slice(4);
    expect(lost).toEqual([
      '4 user_left bert lost',
      '5 user_left anna lost',
      '6 host_changed -',
      '7 room_destroyed - idle',
    ]);
  }),
  example(
    'a room that ends with its host adds one user_left for each member',
    async (harness) => {
      const room = await harness.room(['anna', 'bert', 'cora']);
      await harness.leave(room, 'anna');
      expect(inWords(await all(harness)).slice(4)).toEqual([
        '4 user_left anna left',
        '5 user_left bert host-left',
        '6 user_left cora host-left',
        '7 room_destroyed - host-left',
      ]);
    },
    { policy: { closeOnHostLeave: true } },
  ),
  example('the feed is read in pages, each behind the position of the last', async (harness) => {
    expect(await read(harness)).toMatchObject({ events: [], lost: 0 });
    const { position: early } = await read(harness);
    await harness.room(['anna', 'bert']);
    const first = await read(harness, early, 2);
    expect(inWords(first.events)).toEqual(['0 room_created anna', '1 user_joined anna']);
    const second = await read(harness, first.position, 2);
    expect(inWords(second.events)).toEqual(['2 user_joined bert']);
    const third = await read(harness, second.position, 2);
    expect(third).toEqual({ events: [], position: second.position, lost: 0 });
    await harness.room(['cora'], { ref: refOf(77) });
    const fourth = await read(harness, third.position);
    expect(inWords(fourth.events)).toEqual(['0 room_created cora', '1 user_joined cora']);
  }),
  example('events that were dropped unread are counted', async (harness) => {
    const room = await harness.room(['anna']);
    const { position } = await read(harness);
    // Twice as many as are kept: both engines let go of them in lumps.
    const changes = Array.from({ length: 2_000 }, (_, index) =>
      harness.updateSeat(room, 'anna', { name: `A${index}` }),
    );
    await Promise.all(changes);
    const page = await read(harness, position, 10);
    const [first] = page.events;
    expect(page.lost).toBeGreaterThan(0);
    expect(page.lost).toBeLessThanOrEqual(1_000);
    expect(first?.rev).toBe(2 + page.lost);
    expect(await read(harness, page.position, 1)).toMatchObject({ lost: 0, events: [{ rev: 2 + page.lost + 10 }] });
    // Who has never read has missed all of it.
    expect(await read(harness, undefined, 1)).toMatchObject({ lost: 2 + page.lost, events: [{ rev: 2 + page.lost }] });
  }),
  example('a position of an emptied feed is not valid', async (harness) => {
    await harness.room(['anna']);
    const page = await read(harness, 'another:1/900');
    expect(inWords(page.events)).toEqual(['0 room_created anna', '1 user_joined anna']);
    expect(page.lost).toBe(0);
  }),
  example('an announcement is added once within its dedupe time', async (harness) => {
    const low = { type: 'pool_low', free: 1, occupied: 2, cooling: 3, total: 6 } as const;
    const alarm = {
      type: 'reference_alarm',
      itemType: 'room',
      year: 2026,
      seed: 1,
      inUse: 9,
      continuesAt: 10,
    } as const;
    await harness.engine.feed.announce(low, 60_000);
    await harness.engine.feed.announce(low, 60_000);
    await harness.engine.feed.announce(alarm, 60_000);
    await harness.engine.feed.announce({ ...alarm, itemType: 'user' }, 60_000);
    const nowhere = { code: null, ref: null, rev: null, userId: null, serverId: NODE, timestamp: harness.clock.now() };
    const events = await all(harness);
    expect(events).toEqual([
      { ...low, ...nowhere, id: `pool_low:${harness.clock.now()}` },
      { ...alarm, ...nowhere, id: `reference_alarm:room:${harness.clock.now()}` },
      { ...alarm, itemType: 'user', ...nowhere, id: `reference_alarm:user:${harness.clock.now()}` },
    ]);
  }),
  example(
    'a listener receives the events of this node, until it is removed',
    async (harness) => {
      const heard: FeedEvent[] = [];
      const stop = harness.engine.feed.listen((event) => heard.push(event));
      await harness.engine.feed.announce({ type: 'pool_low', free: 1, occupied: 2, cooling: 3, total: 6 }, 1);
      // The channel may be a moment away: what is said before it is heard is not.
      await vi.waitFor(async () => {
        await harness.create('anna', { ref: refOf(900 + heard.length) });
        expect(heard.some(({ type }) => type === 'room_created')).toBe(true);
      });
      const room = await harness.room(['zoe', 'mia'], { ref: refOf(42) });
      await harness.close(room, 'zoe');
      const ofRoom = () => heard.filter(({ ref }) => ref === room.ref);
      await vi.waitFor(() => expect(ofRoom()).toHaveLength(6));
      expect(ofRoom()).toEqual((await all(harness)).filter(({ ref }) => ref === room.ref));
      stop();
      const before = heard.length;
      await harness.room(['bert'], { ref: refOf(43) });
      await harness.read(room.code);
      expect(heard.length).toBe(before);
    },
    { perShard: 90 },
  ),
] as const;
