import { expect, test } from 'vitest';
import { LAWS } from './checker/check.ts';
import { BUGS } from './planted/bugs.ts';
import { patched } from './planted/build.ts';

// Whether the checker finds them is shown by `npm run chaos:planted`, which takes ten minutes.
test.each(BUGS.map((bug) => [bug.name, bug] as const))('the program can still be given the bug: %s', async (_, bug) => {
  for (const patch of bug.patches) expect(await patched(patch)).toContain(patch.to);
});

test('every law has a bug that breaks it', () => {
  const caught = new Set<string>(BUGS.map(({ caughtBy }) => caughtBy));
  expect(Object.keys(LAWS).filter((law) => !caught.has(law))).toEqual([]);
});
