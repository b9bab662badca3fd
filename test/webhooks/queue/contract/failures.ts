/** Failed deliveries, and dead letters. */
import { expect } from 'vitest';
import { MIN_ATTEMPTS } from '../../../../src/webhooks/queue/queue.ts';
import { claimIds, complete, DAY_MS, event, failed, LEASE_MS, poolLow, type QueueHarness } from '../harness.ts';
import { claimOne, type Example, GONE, idOf } from './example.ts';

/** Fails the only event that is due until it is a dead letter. */
async function failUntilDead(harness: QueueHarness): Promise<void> {
  for (let attempt = 1; attempt <= MIN_ATTEMPTS; attempt += 1) {
    const completed = await complete(harness, await claimOne(harness), failed(1, 0));
    expect(completed).toMatchObject({ current: true, dead: attempt === MIN_ATTEMPTS });
    harness.clock.advance(1);
  }
}

export const failures: readonly Example[] = [
  [
    'a failure holds back its own room, for the time of the retry',
    async (harness) => {
      await claimIds(harness);
      await harness.append(event(1, 0), event(1, 1));
      expect(await complete(harness, await claimOne(harness), failed(5_000))).toEqual({ ...GONE, current: true });
      await harness.append(event(2, 0), event(1, 2));
      expect(await claimIds(harness)).toEqual([idOf(2, 0)]);
      harness.clock.advance(4_999);
      expect(await claimIds(harness)).toEqual([]);
      harness.clock.advance(1);
      const again = await claimOne(harness);
      expect(again).toMatchObject({ eventId: idOf(1, 0), failures: 1 });
      // The next head has no failures yet.
      expect((await complete(harness, again)).next).toMatchObject({ eventId: idOf(1, 1), failures: 0 });
    },
  ],
  [
    'the stats have the last failure and the last success',
    async (harness) => {
      await claimIds(harness);
      expect(await harness.queue.stats('first')).toEqual({
        pending: 0,
        dead: 0,
        dropped: 0,
        lost: 0,
        lastError: undefined,
        lastDeliveredAt: undefined,
      });
      await harness.append(event(1, 0), event(1, 1));
      const failedAt = harness.clock.now();
      await complete(harness, await claimOne(harness), failed(1_000));
      harness.clock.advance(1_000);
      await complete(harness, await claimOne(harness));
      expect(await harness.queue.stats('first')).toMatchObject({
        pending: 1,
        lastError: { reason: 'answered 500', at: failedAt },
        lastDeliveredAt: failedAt + 1_000,
      });
    },
  ],
  [
    'an event that is old enough and was tried often enough becomes a dead letter, and the room goes on',
    async (harness) => {
      await claimIds(harness);
      await harness.append(event(1, 0), event(1, 1));
      await claimOne(harness);
      for (let attempt = 1; attempt < MIN_ATTEMPTS + 3; attempt += 1) {
        harness.clock.advance(LEASE_MS);
        expect(await complete(harness, await claimOne(harness), failed(0))).toMatchObject({ dead: false });
      }
      harness.clock.advance(DAY_MS);
      const last = await claimOne(harness);
      const { dead, next } = await complete(harness, last, failed());
      expect({ dead, next: next?.eventId }).toEqual({ dead: true, next: idOf(1, 1) });
      // It is as old, and has as many attempts all the same.
      let second = next ?? expect.unreachable();
      for (let attempt = 1; attempt < MIN_ATTEMPTS; attempt += 1) {
        expect(await complete(harness, second, failed(0))).toMatchObject({ dead: false });
        second = await claimOne(harness);
      }
      expect(await complete(harness, second, failed(0))).toMatchObject({ dead: true, next: undefined });
      expect(await harness.queue.stats('first')).toMatchObject({ pending: 0, dead: 2, dropped: 0 });
      expect((await harness.queue.deadLetters('first', { limit: 10 }))?.letters).toEqual([
        { event: event(1, 1), attempts: MIN_ATTEMPTS, reason: 'answered 500', at: harness.clock.now() },
        { event: event(1, 0), attempts: MIN_ATTEMPTS + 3, reason: 'answered 500', at: harness.clock.now() },
      ]);
    },
  ],
];

export const deadLetters: readonly Example[] = [
  [
    'dead letters are listed in pages, the newest first',
    async (harness) => {
      await claimIds(harness);
      for (let rev = 0; rev < 5; rev += 1) {
        await harness.append(event(1, rev));
        await failUntilDead(harness);
      }
      const found: string[] = [];
      let after: string | undefined;
      do {
        const page = await harness.queue.deadLetters('first', { after, limit: 2 });
        if (page === undefined) throw new Error('the cursor of a page must be valid');
        found.push(...page.letters.map((letter) => letter.event.id));
        after = page.next;
      } while (after !== undefined);
      expect(found).toEqual([4, 3, 2, 1, 0].map((rev) => idOf(1, rev)));
      for (const nowhere of ['', 'x', '-1', '1:2:3'])
        expect(await harness.queue.deadLetters('first', { after: nowhere, limit: 2 })).toBeUndefined();
      expect((await harness.queue.deadLetters('nobody', { limit: 2 }))?.letters).toEqual([]);
    },
  ],
  [
    'dead letters are replayed at the end of their room queue, with new attempts',
    async (harness) => {
      await claimIds(harness);
      for (const rev of [0, 1, 2]) {
        await harness.append(event(1, rev));
        await failUntilDead(harness);
      }
      await harness.append(event(1, 3));
      const fourth = await claimOne(harness);
      expect(await harness.queue.replay('first', [idOf(1, 2), idOf(1, 0), idOf(1, 0), idOf(9, 9)])).toBe(2);
      expect(await harness.queue.stats('first')).toMatchObject({ pending: 3, dead: 1 });
      const { next: oldest } = await complete(harness, fourth);
      expect(oldest).toMatchObject({ eventId: idOf(1, 0), failures: 0 });
      expect(JSON.parse(oldest?.body ?? '')).toEqual(event(1, 0));
      const { next: newest } = await complete(harness, oldest ?? expect.unreachable());
      expect(newest?.eventId).toBe(idOf(1, 2));
      // The day begins with the replay.
      for (let attempt = 1; attempt <= MIN_ATTEMPTS; attempt += 1) {
        harness.clock.advance(LEASE_MS);
        expect(await complete(harness, await claimOne(harness), failed(0))).toMatchObject({ dead: false });
      }
      expect(await harness.queue.replay('first', [])).toBe(0);
      expect(await harness.queue.replay('first')).toBe(1);
      expect(await harness.queue.replay('first')).toBe(0);
      expect(await harness.queue.replay('nobody')).toBe(0);
      expect(await harness.queue.stats('first')).toMatchObject({ pending: 2, dead: 0 });
    },
  ],
  [
    'a replayed event is due at once when its room queue is empty',
    async (harness) => {
      await claimIds(harness);
      await harness.append(poolLow(1));
      await failUntilDead(harness);
      expect(await harness.queue.replay('first')).toBe(1);
      expect(await claimIds(harness)).toEqual(['pool_low:1']);
    },
  ],
];
