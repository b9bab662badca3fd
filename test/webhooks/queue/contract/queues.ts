/** Which events are queued, and which are claimed. */
import { expect } from 'vitest';
import { MAX_READ } from '../../../../src/webhooks/queue/queue.ts';
import { claim, claimIds, complete, event, KEPT, poolLow } from '../harness.ts';
import { claimOne, DELIVERED, type Example, GONE, idOf } from './example.ts';

export const queues: readonly Example[] = [
  [
    'a new endpoint begins at the end of the feed, independently of others',
    async (harness) => {
      await harness.append(event(1, 0));
      expect(await claimIds(harness)).toEqual([]);
      await harness.append(event(1, 1), poolLow(1));
      expect((await claimIds(harness)).toSorted()).toEqual([idOf(1, 1), 'pool_low:1'].toSorted());
      expect(await claimIds(harness, {}, 'second')).toEqual([]);
      await harness.append(event(2, 0));
      expect(await claimIds(harness)).toEqual([idOf(2, 0)]);
      expect(await claimIds(harness, {}, 'second')).toEqual([idOf(2, 0)]);
    },
  ],
  [
    'an endpoint that was known before begins with the oldest event',
    async (harness) => {
      await harness.append(event(1, 0));
      expect(await claimIds(harness, { from: 'oldest' })).toEqual([idOf(1, 0)]);
    },
  ],
  [
    'the body of a delivery is the event of the feed',
    async (harness) => {
      await claimIds(harness);
      const appended = event(1, 3, 'user_joined');
      await harness.append(appended);
      const one = await claimOne(harness);
      expect(one).toMatchObject({ eventId: appended.id, failures: 0 });
      expect(JSON.parse(one.body)).toEqual(appended);
    },
  ],
  [
    'only events of the requested types are queued',
    async (harness) => {
      const types = ['user_joined'] as const;
      await claimIds(harness, { types });
      await harness.append(event(1, 0), event(1, 1, 'user_joined'), poolLow(1));
      const [one] = (await claim(harness, { types })).deliveries;
      expect(one?.eventId).toBe(idOf(1, 1));
      expect(one && (await complete(harness, one)).next).toBeUndefined();
      expect(await harness.queue.stats('first')).toMatchObject({ pending: 0 });
    },
  ],
  [
    'one event of each room is claimed at a time, in order; completing it claims the next',
    async (harness) => {
      await claimIds(harness);
      await harness.append(event(1, 0), event(2, 0), event(1, 1), event(1, 2));
      const { deliveries } = await claim(harness);
      expect(deliveries.map(({ eventId }) => eventId).toSorted()).toEqual([idOf(1, 0), idOf(2, 0)]);
      expect(await claimIds(harness)).toEqual([]);
      const first = deliveries.find(({ eventId }) => eventId === idOf(1, 0)) ?? expect.unreachable();
      const { next: second } = await complete(harness, first);
      expect(second?.eventId).toBe(idOf(1, 1));
      const { next: third } = await complete(harness, second ?? expect.unreachable());
      expect(third?.eventId).toBe(idOf(1, 2));
      expect(await complete(harness, third ?? expect.unreachable())).toEqual({ ...GONE, current: true });
      expect(await harness.queue.stats('first')).toMatchObject({ pending: 1 });
    },
  ],
  [
    'without claimNext, the next event is due for other nodes',
    async (harness) => {
      await claimIds(harness);
      await harness.append(event(1, 0), event(1, 1));
      const { next } = await harness.queue.complete('first', await claimOne(harness), DELIVERED);
      expect(next).toBeUndefined();
      expect(await claimIds(harness)).toEqual([idOf(1, 1)]);
    },
  ],
  [
    'at most maxRooms rooms are claimed, the longest due first',
    async (harness) => {
      await claimIds(harness);
      await harness.append(event(1, 0));
      expect(await claimIds(harness, { maxRooms: 0 })).toEqual([]);
      harness.clock.advance(1);
      await harness.append(event(2, 0));
      expect(await claimIds(harness, { maxRooms: 0 })).toEqual([]);
      harness.clock.advance(1);
      await harness.append(event(3, 0));
      expect(await claimIds(harness, { maxRooms: 1 })).toHaveLength(1);
      expect(await claimIds(harness, { maxRooms: 5 })).toHaveLength(2);
    },
  ],
  [
    'a claim says when there are more new events than it reads',
    async (harness) => {
      await claimIds(harness);
      await harness.append(...Array.from({ length: MAX_READ + 1 }, (_, rev) => event(1, rev)));
      expect(await claim(harness, { maxRooms: 0 })).toMatchObject({ deliveries: [], more: true, lost: 0 });
      expect(await claim(harness, { maxRooms: 0 })).toMatchObject({ deliveries: [], more: false, lost: 0 });
      expect(await harness.queue.stats('first')).toMatchObject({ pending: MAX_READ + 1 });
    },
  ],
  [
    'an event is queued once, however many nodes claim',
    async (harness) => {
      await claimIds(harness);
      await harness.append(...Array.from({ length: 100 }, (_, room) => event(room, 0)));
      const claimed = await Promise.all(Array.from({ length: 10 }, () => claimIds(harness, { maxRooms: 20 })));
      expect(new Set(claimed.flat()).size).toBe(100);
      expect(claimed.flat()).toHaveLength(100);
    },
  ],
];

export const bounds: readonly Example[] = [
  [
    'the queues hold maxPending events; later ones stay in the feed until some are completed',
    async (harness) => {
      await claimIds(harness);
      await harness.append(event(1, 0), event(1, 1), event(1, 2));
      const maxPending = 2 * harness.partitions;
      const [first] = (await claim(harness, { maxPending })).deliveries;
      expect(await harness.queue.stats('first')).toMatchObject({ pending: 2 });
      expect(await claim(harness, { maxPending })).toMatchObject({ deliveries: [], more: false, lost: 0 });
      await complete(harness, first ?? expect.unreachable());
      await claim(harness, { maxPending });
      expect(await harness.queue.stats('first')).toMatchObject({ pending: 2, lost: 0 });
    },
  ],
  [
    'events that the feed has trimmed are counted once',
    async (harness) => {
      await claimIds(harness);
      await harness.append(event(1, 0), event(1, 1));
      await claimIds(harness);
      await harness.append(...Array.from({ length: 2 * KEPT }, (_, rev) => event(1, rev + 2)));
      await harness.trim();
      expect(await claim(harness, { maxRooms: 0 })).toMatchObject({ lost: KEPT });
      let more = true;
      while (more) {
        const again = await claim(harness, { maxRooms: 0 });
        expect(again.lost).toBe(0);
        more = again.more;
      }
      expect(await harness.queue.stats('first')).toMatchObject({ pending: 2 + KEPT, lost: KEPT });
    },
  ],
];
