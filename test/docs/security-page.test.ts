import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { printPricesInto } from '../../scripts/prices-table.ts';
import { readOptions } from '../../src/server/options/options.ts';

const page = readFileSync(new URL('../../docs/security.md', import.meta.url), 'utf8');

test('the prices in docs/security.md are those that `npm run docs` prints', () => {
  expect(page).toBe(printPricesInto('docs/security.md'));
});

test('the defaults that docs/security.md names are the defaults', () => {
  const { eventsBurst, eventsPerSecond, strikes, roomBytesPerSecond } = readOptions({});
  expect(page).toContain(`\`eventsBurst\` tokens (${eventsBurst})`);
  expect(page).toContain(`\`eventsPerSecond\` (${eventsPerSecond})`);
  expect(page).toContain(`\`strikes\` such refusals (${strikes})`);
  expect(page).toContain(`\`roomBytesPerSecond\` (${roomBytesPerSecond / 2 ** 20} MiB)`);
});
