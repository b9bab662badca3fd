/** Leases of claimed deliveries. */
import { expect } from 'vitest';
import { claimIds, complete, event, failed, LEASE_MS } from '../harness.ts';
import { claimOne, DELIVERED, type Example, GONE, idOf } from './example.ts';

export const leases: readonly Example[] = [
  [
    'a delivery that is not completed can be claimed again when its lease has ended; completing the old claim changes nothing',
    async (harness) => {
      await claimIds(harness);
      await harness.append(event(1, 0), event(1, 1));
      const late = await claimOne(harness);
      harness.clock.advance(LEASE_MS - 1);
      expect(await claimIds(harness)).toEqual([]);
      harness.clock.advance(1);
      const again = await claimOne(harness);
      expect(again).toMatchObject({ eventId: late.eventId, body: late.body, failures: 0 });
      for (const result of [DELIVERED, failed(), { kind: 'released' } as const])
        expect(await complete(harness, late, result)).toEqual(GONE);
      expect((await complete(harness, again)).next?.eventId).toBe(idOf(1, 1));
      expect(await complete(harness, again)).toEqual(GONE);
      expect(await complete(harness, late)).toEqual(GONE);
    },
  ],
  [
    'completing after the end of the lease counts while no other node has claimed it',
    async (harness) => {
      await claimIds(harness);
      await harness.append(event(1, 0));
      const late = await claimOne(harness);
      harness.clock.advance(LEASE_MS);
      expect(await complete(harness, late)).toMatchObject({ current: true });
      expect(await claimIds(harness)).toEqual([]);
    },
  ],
  [
    'the lease of the next event begins when it is claimed',
    async (harness) => {
      await claimIds(harness);
      await harness.append(event(1, 0), event(1, 1));
      const first = await claimOne(harness);
      harness.clock.advance(LEASE_MS - 1);
      await complete(harness, first);
      harness.clock.advance(LEASE_MS - 1);
      expect(await claimIds(harness)).toEqual([]);
      harness.clock.advance(1);
      expect(await claimIds(harness)).toEqual([idOf(1, 1)]);
    },
  ],
  [
    'a released delivery is due at once, and does not count as a failure',
    async (harness) => {
      await claimIds(harness);
      await harness.append(event(1, 0), event(1, 1));
      const first = await claimOne(harness);
      expect(await complete(harness, first, { kind: 'released' })).toEqual({ ...GONE, current: true });
      expect(await complete(harness, first)).toEqual(GONE);
      expect(await claimOne(harness)).toMatchObject({ eventId: idOf(1, 0), failures: 0 });
      expect((await harness.queue.stats('first')).lastError).toBeUndefined();
    },
  ],
];
