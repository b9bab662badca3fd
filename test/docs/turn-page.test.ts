/** Facts of `docs/turn.md`, checked against the source and deploy/turnserver.conf. */
import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { variableOf } from '../../src/cli/option-spellings.ts';
import { OPTIONS } from '../../src/server/options/options.ts';

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
const page = read('docs/turn.md');
const conf = read('deploy/turnserver.conf');
const setting = (name: string) => new RegExp(`^${name}=(.+)$`, 'm').exec(conf)?.[1];

test('the options and variables that the page names exist', () => {
  const variables = [...page.matchAll(/SIGNALBOX_[A-Z_]+/g)].map(([name]) => name);
  expect(new Set(variables).size).toBe(3);
  for (const name of variables) expect(Object.keys(OPTIONS).map(variableOf)).toContain(name);
  const options = [...page.matchAll(/`(turn[A-Z]\w+)`/g)].map(([, name]) => name);
  expect(new Set(options)).toEqual(new Set(Object.keys(OPTIONS).filter((name) => name.startsWith('turn'))));
});

test('the ports of the page are those of the file', () => {
  expect(page).toMatch(new RegExp(`^\\| ${setting('listening-port')} `, 'm'));
  expect(page).toMatch(new RegExp(`^\\| ${setting('min-port')} - ${setting('max-port')} `, 'm'));
});

test('the coturn settings of the page are in the file', () => {
  for (const name of ['user-quota', 'total-quota', 'external-ip', 'static-auth-secret']) {
    expect(page).toContain(name);
    expect(conf).toContain(name);
  }
});

test('the files that the page links to exist', () => {
  const links = [...page.matchAll(/\]\((?!http)([^)#]+)\)/g)].map(([, path = '']) => path);
  expect(links).not.toEqual([]);
  for (const path of links) expect(existsSync(new URL(`../../docs/${path}`, import.meta.url)), path).toBe(true);
});
