/** The earliest of what is due, found without looking at everything. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createDueQueue } from '../../../src/webhooks/queue/due-queue.ts';

const item = fc.integer({ min: 0, max: 20 });
const instant = fc.integer({ min: 0, max: 50 });
const step = fc.oneof(
  fc.record({ kind: fc.constant('set' as const), item, due: instant }),
  fc.record({ kind: fc.constant('delete' as const), item }),
  fc.record({ kind: fc.constant('take' as const), now: instant, most: fc.integer({ min: 0, max: 5 }) }),
);

test('whatever is set, set again, deleted and taken: as in a list that is sorted each time', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 300 }), (steps) => {
      const agenda = createDueQueue<number>();
      let list: { item: number; due: number }[] = [];
      for (const one of steps) {
        if (one.kind === 'take') {
          const due = list.filter((entry) => entry.due <= one.now).toSorted((a, b) => a.due - b.due);
          const expected = due.slice(0, one.most).map((entry) => entry.item);
          expect(agenda.popDue(one.now, one.most)).toEqual(expected);
          list = list.filter((entry) => !expected.includes(entry.item));
          continue;
        }
        list = list.filter((entry) => entry.item !== one.item);
        if (one.kind === 'delete') agenda.delete(one.item);
        else {
          list.push({ item: one.item, due: one.due });
          agenda.set(one.item, one.due);
        }
      }
    }),
  );
});

/** An instant, and how often such ones have been looked at. */
function counted() {
  let looks = 0;
  const at = (value: number): number => {
    const instant = {
      valueOf: () => {
        looks += 1;
        return value;
      },
    };
    // Whoever compares it compares its value.
    return instant as unknown as number;
  };
  return { at, looks: () => looks };
}

test('of a hundred thousand that are due, a few are looked at for each that is taken', () => {
  const { at, looks } = counted();
  const agenda = createDueQueue<number>();
  for (let item = 0; item < 100_000; item += 1) agenda.set(item, at((item * 7_919) % 100_003));
  const before = looks();
  expect(agenda.popDue(100_003, 32)).toHaveLength(32);
  expect(looks() - before).toBeLessThan(32 * 100);
});

test('what is set again and again leaves nothing behind', () => {
  const { at, looks } = counted();
  const agenda = createDueQueue<string>();
  for (let due = 10_000; due > 0; due -= 1) agenda.set('lease', at(due));
  const before = looks();
  expect(agenda.popDue(10_000, 5)).toEqual(['lease']);
  expect(looks() - before).toBeLessThan(1_000);
});
