/** A priority queue by due time. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createDueQueue } from '../../../src/webhooks/queue/due-queue.ts';

const item = fc.integer({ min: 0, max: 20 });
const instant = fc.integer({ min: 0, max: 50 });
const step = fc.oneof(
  fc.record({ kind: fc.constant('set' as const), item, due: instant }),
  fc.record({ kind: fc.constant('delete' as const), item }),
  fc.record({ kind: fc.constant('pop' as const), now: instant, max: fc.integer({ min: 0, max: 5 }) }),
);

test('the queue behaves as a list that is sorted before each pop', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 300 }), (steps) => {
      const queue = createDueQueue<number>();
      let list: { item: number; due: number }[] = [];
      for (const one of steps) {
        if (one.kind === 'pop') {
          const due = list.filter((entry) => entry.due <= one.now).toSorted((a, b) => a.due - b.due);
          const expected = due.slice(0, one.max).map((entry) => entry.item);
          expect(queue.popDue(one.now, one.max)).toEqual(expected);
          list = list.filter((entry) => !expected.includes(entry.item));
          continue;
        }
        list = list.filter((entry) => entry.item !== one.item);
        if (one.kind === 'delete') queue.delete(one.item);
        else {
          list.push({ item: one.item, due: one.due });
          queue.set(one.item, one.due);
        }
      }
    }),
  );
});

/** Instants that count how often they are compared. */
function countedInstants() {
  let comparisons = 0;
  const at = (value: number): number => {
    const instant = {
      valueOf: () => {
        comparisons += 1;
        return value;
      },
    };
    // Comparing calls valueOf.
    return instant as unknown as number;
  };
  return { at, comparisons: () => comparisons };
}

test('of a hundred thousand due items, few are compared for each that is popped', () => {
  const { at, comparisons } = countedInstants();
  const queue = createDueQueue<number>();
  for (let item = 0; item < 100_000; item += 1) queue.set(item, at((item * 7_919) % 100_003));
  const before = comparisons();
  expect(queue.popDue(100_003, 32)).toHaveLength(32);
  expect(comparisons() - before).toBeLessThan(32 * 100);
});

test('an item that is set many times leaves no entries behind', () => {
  const { at, comparisons } = countedInstants();
  const queue = createDueQueue<string>();
  for (let due = 10_000; due > 0; due -= 1) queue.set('lease', at(due));
  const before = comparisons();
  expect(queue.popDue(10_000, 5)).toEqual(['lease']);
  expect(comparisons() - before).toBeLessThan(1_000);
});
