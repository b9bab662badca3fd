/** What becomes of what has failed. */
import { expect } from 'vitest';
import { LEAST_ATTEMPTS } from '../../../src/engine/deliveries.ts';
import { DAY_MS, type DeliveryStage, event, failed, LEASE_MS, poolLow, settle, takeIds } from '../deliveries-stage.ts';
import { type Example, GONE, idOf, takeOne } from './example.ts';

/** Fails the one event that is due until it is dead. */
async function kill(stage: DeliveryStage): Promise<void> {
  for (let attempt = 1; attempt <= LEAST_ATTEMPTS; attempt += 1) {
    const settled = await settle(stage, await takeOne(stage), failed(1, 0));
    expect(settled).toMatchObject({ current: true, died: attempt === LEAST_ATTEMPTS });
    stage.clock.advance(1);
  }
}

export const failures: readonly Example[] = [
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

export const deadLetters: readonly Example[] = [
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
