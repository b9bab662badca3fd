/** Each law on small logs made by hand: it holds where it should, and finds what is wrong. */
import { expect, test } from 'vitest';
import { check, LAWS } from './checker/check.ts';
import { NOTHING } from './examples/entries.ts';
import { OTHER_EXAMPLES } from './examples/others.ts';
import { ROOM_EXAMPLES } from './examples/rooms.ts';
import { SIGNAL_EXAMPLES } from './examples/signals.ts';

const examples = [...ROOM_EXAMPLES, ...SIGNAL_EXAMPLES, ...OTHER_EXAMPLES];

test.each(examples.map((example) => [example.name, example] as const))(
  'the checker judges %s',
  (_, { run, breaks = [] }) => {
    const broken = new Set(check({ ...NOTHING, ...run }).map(({ law }) => law));
    expect([...broken].toSorted()).toEqual([...breaks].toSorted());
  },
);

test('every law has an example that breaks it', () => {
  expect([...new Set(examples.flatMap(({ breaks = [] }) => breaks))].toSorted()).toEqual(Object.keys(LAWS).toSorted());
});
