/** `npm run bench [relay] [create] [feed] [memory] [reference] [-- --write]`: compares, prints the table, and writes it into the docs. */
import { readFile, writeFile } from 'node:fs/promises';
import { benchCreate } from './create.ts';
import { benchFeed } from './feed.ts';
import { type Row, toTable } from './figures.ts';
import { benchMemory } from './memory.ts';
import { benchReference } from './reference.ts';
import { benchRelay } from './relay.ts';

const BENCHES: Readonly<Record<string, () => Promise<Row[]>>> = {
  relay: benchRelay,
  create: benchCreate,
  feed: benchFeed,
  memory: benchMemory,
  reference: benchReference,
};
const PAGE = new URL('../docs/benchmarks.md', import.meta.url);
const TABLE = /(?<=<!-- table -->\n).*(?=\n<!-- end -->)/s;

const words = process.argv.slice(2);
const names = words.filter((word) => word !== '--write');
const unknown = names.filter((name) => !Object.hasOwn(BENCHES, name));
if (unknown.length > 0) throw new Error(`no benchmark is called ${unknown.join(' or ')}`);
const rows: Row[] = [];
for (const [name, run] of Object.entries(BENCHES)) {
  if (names.length > 0 && !names.includes(name)) continue;
  const started = performance.now();
  rows.push(...(await run()));
  console.error(`${name}: ${((performance.now() - started) / 1000).toFixed(0)} s`);
}
const table = toTable(rows);
console.log(table);
if (words.includes('--write')) {
  const page = await readFile(PAGE, 'utf8');
  await writeFile(PAGE, page.replace(TABLE, `\n${table}\n`));
}
