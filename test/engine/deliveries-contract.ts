/** The laws of deliveries, as a table of examples for every store. There are no opt-outs. */
import { expect } from 'vitest';
import { LEAST_ATTEMPTS, MOST_DEAD, MOST_READ } from '../../src/engine/deliveries.ts';
import {
  DAY_MS,
  type DeliveryStage,
  event,
  failed,
  KEPT,
  LEASE_MS,
  poolLow,
  ref,
  settle,
  take,
  takeIds,
} from './deliveries-stage.ts';

type Example = readonly [name: string, run: (stage: DeliveryStage) => Promise<void>];

const DELIVERED = { kind: 'delivered' } as const;
const GONE = { current: false, died: false, next: undefined };
const idOf = (room: number, rev: number): string => `${ref(room)}:${rev}`;

/** Takes the one event that is due. */
async function takeOne(stage: DeliveryStage) {
  const { deliveries } = await take(stage, { rooms: 1 });
  return deliveries[0] ?? expect.unreachable('nothing was due');
}

/** Fails the one event that is due until it is dead. */
async function kill(stage: DeliveryStage): Promise<void> {
  for (let attempt = 1; attempt <= LEAST_ATTEMPTS; attempt += 1) {
    const settled = await settle(stage, await takeOne(stage), failed(1, 0));
    expect(settled).toMatchObject({ current: true, died: attempt === LEAST_ATTEMPTS });
    stage.clock.advance(1);
  }
}

const queues: readonly Example[] = [
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

const leases: readonly Example[] = [
  [
    'what nobody settles is taken again when the lease has ended; the late answer changes nothing',
    async (stage) => {
      await takeIds(stage);
      await stage.tell(event(1, 0), event(1, 1));
      const late = await takeOne(stage);
      stage.clock.advance(LEASE_MS - 1);
      expect(await takeIds(stage)).toEqual([]);
      stage.clock.advance(1);
      const again = await takeOne(stage);
      expect(again).toMatchObject({ eventId: late.eventId, body: late.body, failures: 0 });
      for (const verdict of [DELIVERED, failed(), { kind: 'released' } as const])
        expect(await settle(stage, late, verdict)).toEqual(GONE);
      expect((await settle(stage, again)).next?.eventId).toBe(idOf(1, 1));
      expect(await settle(stage, again)).toEqual(GONE);
      expect(await settle(stage, late)).toEqual(GONE);
    },
  ],
  [
    'a late answer counts as long as nobody else has taken it',
    async (stage) => {
      await takeIds(stage);
      await stage.tell(event(1, 0));
      const late = await takeOne(stage);
      stage.clock.advance(LEASE_MS);
      expect(await settle(stage, late)).toMatchObject({ current: true });
      expect(await takeIds(stage)).toEqual([]);
    },
  ],
  [
    'the lease of the next one begins with it',
    async (stage) => {
      await takeIds(stage);
      await stage.tell(event(1, 0), event(1, 1));
      const first = await takeOne(stage);
      stage.clock.advance(LEASE_MS - 1);
      await settle(stage, first);
      stage.clock.advance(LEASE_MS - 1);
      expect(await takeIds(stage)).toEqual([]);
      stage.clock.advance(1);
      expect(await takeIds(stage)).toEqual([idOf(1, 1)]);
    },
  ],
  [
    'what is released is due at once, and has not failed',
    async (stage) => {
      await takeIds(stage);
      await stage.tell(event(1, 0), event(1, 1));
      const first = await takeOne(stage);
      expect(await settle(stage, first, { kind: 'released' })).toEqual({ ...GONE, current: true });
      expect(await settle(stage, first)).toEqual(GONE);
      expect(await takeOne(stage)).toMatchObject({ eventId: idOf(1, 0), failures: 0 });
      expect((await stage.deliveries.figures('first')).lastError).toBeUndefined();
    },
  ],
];

const failures: readonly Example[] = [
  [
    'a failure holds back its own room, for the time that is said',
    async (stage) => {
      await takeIds(stage);
      await stage.tell(event(1, 0), event(1, 1));
      expect(await settle(stage, await takeOne(stage), failed(5_000))).toEqual({ ...GONE, current: true });
      await stage.tell(event(2, 0), event(1, 2));
      expect(await takeIds(stage)).toEqual([idOf(2, 0)]);
      stage.clock.advance(4_999);
      expect(await takeIds(stage)).toEqual([]);
      stage.clock.advance(1);
      const again = await takeOne(stage);
      expect(again).toMatchObject({ eventId: idOf(1, 0), failures: 1 });
      // The next head begins anew.
      expect((await settle(stage, again)).next).toMatchObject({ eventId: idOf(1, 1), failures: 0 });
    },
  ],
  [
    'figures tell of the last failure and the last success',
    async (stage) => {
      await takeIds(stage);
      expect(await stage.deliveries.figures('first')).toEqual({
        pending: 0,
        dead: 0,
        dropped: 0,
        lost: 0,
        lastError: undefined,
        lastDeliveredAt: undefined,
      });
      await stage.tell(event(1, 0), event(1, 1));
      const failedAt = stage.clock.now();
      await settle(stage, await takeOne(stage), failed(1_000));
      stage.clock.advance(1_000);
      await settle(stage, await takeOne(stage));
      expect(await stage.deliveries.figures('first')).toMatchObject({
        pending: 1,
        lastError: { reason: 'answered 500', at: failedAt },
        lastDeliveredAt: failedAt + 1_000,
      });
    },
  ],
  [
    'an event that has waited long enough, and was tried often enough, dies; the room goes on',
    async (stage) => {
      await takeIds(stage);
      await stage.tell(event(1, 0), event(1, 1));
      await takeOne(stage);
      for (let attempt = 1; attempt < LEAST_ATTEMPTS + 3; attempt += 1) {
        stage.clock.advance(LEASE_MS);
        expect(await settle(stage, await takeOne(stage), failed(0))).toMatchObject({ died: false });
      }
      stage.clock.advance(DAY_MS);
      const last = await takeOne(stage);
      const { died, next } = await settle(stage, last, failed());
      expect({ died, next: next?.eventId }).toEqual({ died: true, next: idOf(1, 1) });
      // It has waited as long, and has its chances all the same.
      let second = next ?? expect.unreachable();
      for (let attempt = 1; attempt < LEAST_ATTEMPTS; attempt += 1) {
        expect(await settle(stage, second, failed(0))).toMatchObject({ died: false });
        second = await takeOne(stage);
      }
      expect(await settle(stage, second, failed(0))).toMatchObject({ died: true, next: undefined });
      expect(await stage.deliveries.figures('first')).toMatchObject({ pending: 0, dead: 2, dropped: 0 });
      expect((await stage.deliveries.dead('first', { limit: 10 }))?.letters).toEqual([
        { event: event(1, 1), attempts: LEAST_ATTEMPTS, reason: 'answered 500', at: stage.clock.now() },
        { event: event(1, 0), attempts: LEAST_ATTEMPTS + 3, reason: 'answered 500', at: stage.clock.now() },
      ]);
    },
  ],
];

const deadLetters: readonly Example[] = [
  [
    'are listed in pages, the newest first',
    async (stage) => {
      await takeIds(stage);
      for (let rev = 0; rev < 5; rev += 1) {
        await stage.tell(event(1, rev));
        await kill(stage);
      }
      const found: string[] = [];
      let after: string | undefined;
      do {
        const page = await stage.deliveries.dead('first', { after, limit: 2 });
        if (page === undefined) throw new Error('a cursor that was given is one');
        found.push(...page.letters.map((letter) => letter.event.id));
        after = page.next;
      } while (after !== undefined);
      expect(found).toEqual([4, 3, 2, 1, 0].map((rev) => idOf(1, rev)));
      for (const nowhere of ['', 'x', '-1', '1:2:3'])
        expect(await stage.deliveries.dead('first', { after: nowhere, limit: 2 })).toBeUndefined();
      expect((await stage.deliveries.dead('nobody', { limit: 2 }))?.letters).toEqual([]);
    },
  ],
  [
    'are replayed behind what waits of their room, with new chances',
    async (stage) => {
      await takeIds(stage);
      for (const rev of [0, 1, 2]) {
        await stage.tell(event(1, rev));
        await kill(stage);
      }
      await stage.tell(event(1, 3));
      const fourth = await takeOne(stage);
      expect(await stage.deliveries.replay('first', [idOf(1, 2), idOf(1, 0), idOf(1, 0), idOf(9, 9)])).toBe(2);
      expect(await stage.deliveries.figures('first')).toMatchObject({ pending: 3, dead: 1 });
      const { next: oldest } = await settle(stage, fourth);
      expect(oldest).toMatchObject({ eventId: idOf(1, 0), failures: 0 });
      expect(JSON.parse(oldest?.body ?? '')).toEqual(event(1, 0));
      const { next: newest } = await settle(stage, oldest ?? expect.unreachable());
      expect(newest?.eventId).toBe(idOf(1, 2));
      // A day counts from the replay.
      for (let attempt = 1; attempt <= LEAST_ATTEMPTS; attempt += 1) {
        stage.clock.advance(LEASE_MS);
        expect(await settle(stage, await takeOne(stage), failed(0))).toMatchObject({ died: false });
      }
      expect(await stage.deliveries.replay('first', [])).toBe(0);
      expect(await stage.deliveries.replay('first')).toBe(1);
      expect(await stage.deliveries.replay('first')).toBe(0);
      expect(await stage.deliveries.replay('nobody')).toBe(0);
      expect(await stage.deliveries.figures('first')).toMatchObject({ pending: 2, dead: 0 });
    },
  ],
  [
    'a room that has nothing else to tell is due at once when one is replayed',
    async (stage) => {
      await takeIds(stage);
      await stage.tell(poolLow(1));
      await kill(stage);
      expect(await stage.deliveries.replay('first')).toBe(1);
      expect(await takeIds(stage)).toEqual(['pool_low:1']);
    },
  ],
];

const bounds: readonly Example[] = [
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

export const deliveriesContract: Readonly<Record<string, readonly Example[]>> = {
  queues,
  leases,
  failures,
  'dead letters': deadLetters,
  bounds,
};

/** Too many to be played on each store more than once. */
export async function buriesTheNewest(stage: DeliveryStage): Promise<void> {
  await takeIds(stage);
  const surplus = 3;
  const count = MOST_DEAD + surplus;
  for (let room = 0; room < count; room += MOST_READ) {
    const rooms = Array.from({ length: Math.min(MOST_READ, count - room) }, (_, index) => room + index);
    await stage.tell(...rooms.map((number) => event(number, 0)));
    for (let attempt = 0; attempt < LEAST_ATTEMPTS; attempt += 1) {
      const { deliveries } = await take(stage, { rooms: MOST_READ });
      await Promise.all(deliveries.map((one) => settle(stage, one, failed(0, 0))));
    }
  }
  expect(await stage.deliveries.figures('first')).toMatchObject({ pending: 0, dead: MOST_DEAD, dropped: surplus });
  expect(await stage.deliveries.replay('first')).toBe(MOST_DEAD);
  expect(await stage.deliveries.figures('first')).toMatchObject({ pending: MOST_DEAD, dead: 0 });
}
