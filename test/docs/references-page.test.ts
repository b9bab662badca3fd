/** Facts and examples of `docs/references.md`, checked against the source and run as a user would. */
import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { variableOf } from '../../src/cli/option-spellings.ts';
import { ITEM_TYPES } from '../../src/reference/item-types.ts';
import { SKIP_AFTER_RESTORE } from '../../src/reference/ledger.ts';
import { OPTIONS } from '../../src/server/options/options.ts';
import { temporaryFolder } from '../support/process.ts';
import { runSignalbox } from '../support/signalbox.ts';
import { snippetsOf } from './snippets.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const page = readFileSync(join(root, 'docs/references.md'), 'utf8');
const YEAR = new Date().getUTCFullYear();

test('the page lists the item types of the source', () => {
  const rows = [...page.matchAll(/^\| `(\w+)` +\| (\d) +\| `(\w+)`/gm)].map(([, name, number, prefix]) => [
    name,
    { number: Number(number), prefix, width: 8 },
  ]);
  expect(Object.fromEntries(rows)).toEqual(ITEM_TYPES);
});

test('the example works in a package of its own', async () => {
  await using folder = await temporaryFolder();
  const example = (await snippetsOf('docs/references.md', '')).get('references') ?? expect.unreachable();
  await mkdir(join(folder.path, 'node_modules'));
  await symlink(root, join(folder.path, 'node_modules', 'signalbox'), 'dir');
  await writeFile(join(folder.path, 'example.mjs'), example);
  const { stdout } = await promisify(execFile)(process.execPath, ['example.mjs'], { cwd: folder.path });
  expect(stdout.split('\n')).toEqual([
    [1, 2, 3, 4].map((number) => `ORD${YEAR}0000000${number}`).join(' '),
    `{"type":"order","year":${YEAR},"sequence":1}`,
    '',
  ]);
});

test('the command prints what the page shows', async () => {
  const command = /^npx signalbox (reference .*)$/m.exec(page)?.[1] ?? '';
  expect((await runSignalbox(command.split(' '))).stdout.trimEnd().split('\n')).toHaveLength(3);
});

test('the options, variables, tables and files that the page names exist', () => {
  for (const [name] of page.matchAll(/SIGNALBOX_[A-Z_]+/g))
    expect(Object.keys(OPTIONS).map(variableOf)).toContain(name);
  const tables = readFileSync(join(root, 'src/database/migrations.ts'), 'utf8');
  for (const [table] of page.matchAll(/signalbox_[a-z]+/g)) expect(tables).toContain(table);
  expect(SKIP_AFTER_RESTORE).toBe(1_000_000);
  for (const [, path = ''] of page.matchAll(/\]\((?!http)([^)#]+)\)/g))
    expect(existsSync(join(root, 'docs', path))).toBe(true);
});
