/** Prints the pages of docs/ that are derived from the source: `npm run docs`. */
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { printAsyncApi } from './asyncapi.ts';
import { printFloorsInto } from './floors-drawing.ts';
import { printOptionsPage } from './options-page.ts';
import { printPricesInto } from './prices-table.ts';
import { printProtocolPage } from './protocol-page.ts';

const PAGES: Readonly<Record<string, () => string>> = {
  'CONTRIBUTING.md': () => printFloorsInto('CONTRIBUTING.md'),
  'docs/architecture.md': () => printFloorsInto('docs/architecture.md'),
  'docs/asyncapi.json': printAsyncApi,
  'docs/options.md': printOptionsPage,
  'docs/protocol.md': printProtocolPage,
  'docs/security.md': () => printPricesInto('docs/security.md'),
};

for (const [path, print] of Object.entries(PAGES)) {
  writeFileSync(fileURLToPath(new URL(`../${path}`, import.meta.url)), print());
  console.log(path);
}
