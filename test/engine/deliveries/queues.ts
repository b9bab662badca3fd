/** What is queued, and what is taken of it. */
import { expect } from 'vitest';
import { MOST_READ } from '../../../src/engine/deliveries.ts';
import { event, KEPT, poolLow, settle, take, takeIds } from '../deliveries-stage.ts';
import { DELIVERED, type Example, GONE, idOf, takeOne } from './example.ts';

export const queues: readonly Example[] = [
  [
    'an endpoint begins at the end of the feed, each for itself',
    async (stage) => {
      await stage.tell(event(1, 0));
      expect(await takeIds(stage)).toEqual([]);
      await stage.tell(event(1, 1), poolLow(1));
      expect((await takeIds(stage)).toSorted()).toEqual([idOf(1, 1), 'pool_low:1'].toSorted());
      expect(await takeIds(stage, {}, 'second')).toEqual([]);
      await stage.tell(event(2, 0));
      expect(await takeIds(stage)).toEqual([idOf(2, 0)]);
      expect(await takeIds(stage, {}, 'second')).toEqual([idOf(2, 0)]);
    },
  ],
  [
    'or with the oldest event, when it is one that was known',
    async (stage) => {
      await stage.tell(event(1, 0));
      expect(await takeIds(stage, { from: 'oldest' })).toEqual([idOf(1, 0)]);
    },
  ],
  [
    'an event is handed over as it was told',
    async (stage) => {
      await takeIds(stage);
      const told = event(1, 3, 'user_joined');
      await stage.tell(told);
      const one = await takeOne(stage);
      expect(one).toMatchObject({ eventId: told.id, failures: 0 });
      expect(JSON.parse(one.body)).toEqual(told);
    },
  ],
  [
    'only the types that are asked for',
    async (stage) => {
      const types = ['user_joined'] as const;
      await takeIds(stage, { types });
      await stage.tell(event(1, 0), event(1, 1, 'user_joined'), poolLow(1));
      const [one] = (await take(stage, { types })).deliveries;
      expect(one?.eventId).toBe(idOf(1, 1));
      expect(one && (await settle(stage, one)).next).toBeUndefined();
      expect(await stage.deliveries.figures('first')).toMatchObject({ pending: 0 });
    },
  ],
  [
    'one event of each room at a time, in their order; the next comes with the answer',
    async (stage) => {
      await takeIds(stage);
      await stage.tell(event(1, 0), event(2, 0), event(1, 1), event(1, 2));
      const { deliveries } = await take(stage);
      expect(deliveries.map(({ eventId }) => eventId).toSorted()).toEqual([idOf(1, 0), idOf(2, 0)]);
      expect(await takeIds(stage)).toEqual([]);
      const first = deliveries.find(({ eventId }) => eventId === idOf(1, 0)) ?? expect.unreachable();
      const { next: second } = await settle(stage, first);
      expect(second?.eventId).toBe(idOf(1, 1));
      const { next: third } = await settle(stage, second ?? expect.unreachable());
      expect(third?.eventId).toBe(idOf(1, 2));
      expect(await settle(stage, third ?? expect.unreachable())).toEqual({ ...GONE, current: true });
      expect(await stage.deliveries.figures('first')).toMatchObject({ pending: 1 });
    },
  ],
  [
    'whoever wants no more leaves the next one to others',
    async (stage) => {
      await takeIds(stage);
      await stage.tell(event(1, 0), event(1, 1));
      const { next } = await stage.deliveries.settle('first', await takeOne(stage), DELIVERED);
      expect(next).toBeUndefined();
      expect(await takeIds(stage)).toEqual([idOf(1, 1)]);
    },
  ],
  [
    'as many rooms as are asked for, those that wait longest first',
    async (stage) => {
      await takeIds(stage);
      await stage.tell(event(1, 0));
      expect(await takeIds(stage, { rooms: 0 })).toEqual([]);
      stage.clock.advance(1);
      await stage.tell(event(2, 0));
      expect(await takeIds(stage, { rooms: 0 })).toEqual([]);
      stage.clock.advance(1);
      await stage.tell(event(3, 0));
      expect(await takeIds(stage, { rooms: 1 })).toHaveLength(1);
      expect(await takeIds(stage, { rooms: 5 })).toHaveLength(2);
    },
  ],
  [
    'more is new than one call looks at',
    async (stage) => {
      await takeIds(stage);
      await stage.tell(...Array.from({ length: MOST_READ + 1 }, (_, rev) => event(1, rev)));
      expect(await take(stage, { rooms: 0 })).toEqual({ deliveries: [], more: true, lost: 0 });
      expect(await take(stage, { rooms: 0 })).toEqual({ deliveries: [], more: false, lost: 0 });
      expect(await stage.deliveries.figures('first')).toMatchObject({ pending: MOST_READ + 1 });
    },
  ],
  [
    'whoever asks, an event is queued once',
    async (stage) => {
      await takeIds(stage);
      await stage.tell(...Array.from({ length: 100 }, (_, room) => event(room, 0)));
      const taken = await Promise.all(Array.from({ length: 10 }, () => takeIds(stage, { rooms: 20 })));
      expect(new Set(taken.flat()).size).toBe(100);
      expect(taken.flat()).toHaveLength(100);
    },
  ],
];

export const bounds: readonly Example[] = [
  [
    'the queues hold so many events; the others stay in the feed until some are gone',
    async (stage) => {
      await takeIds(stage);
      await stage.tell(event(1, 0), event(1, 1), event(1, 2));
      const most = 2 * stage.parts;
      const [first] = (await take(stage, { most })).deliveries;
      expect(await stage.deliveries.figures('first')).toMatchObject({ pending: 2 });
      expect(await take(stage, { most })).toEqual({ deliveries: [], more: false, lost: 0 });
      await settle(stage, first ?? expect.unreachable());
      await take(stage, { most });
      expect(await stage.deliveries.figures('first')).toMatchObject({ pending: 2, lost: 0 });
    },
  ],
  [
    'events that the feed keeps no more are counted, once',
    async (stage) => {
      await takeIds(stage);
      await stage.tell(event(1, 0), event(1, 1));
      await takeIds(stage);
      await stage.tell(...Array.from({ length: 2 * KEPT }, (_, rev) => event(1, rev + 2)));
      await stage.trim();
      expect(await take(stage, { rooms: 0 })).toMatchObject({ lost: KEPT });
      let more = true;
      while (more) {
        const again = await take(stage, { rooms: 0 });
        expect(again.lost).toBe(0);
        more = again.more;
      }
      expect(await stage.deliveries.figures('first')).toMatchObject({ pending: 2 + KEPT, lost: KEPT });
    },
  ],
];
