import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { printOptionsPage } from '../../scripts/options-page.ts';

test('docs/options.md is what `npm run docs` prints', () => {
  const page = readFileSync(new URL('../../docs/options.md', import.meta.url), 'utf8');
  expect(page).toBe(printOptionsPage());
});
