/** What becomes of what was taken. */
import { expect } from 'vitest';
import { event, failed, LEASE_MS, settle, takeIds } from '../deliveries-stage.ts';
import { DELIVERED, type Example, GONE, idOf, takeOne } from './example.ts';

export const leases: readonly Example[] = [
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
