/** The rules in biome.json about size, time and chance are on: each of them reports a planted violation. */
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';

const root = fileURLToPath(new URL('../..', import.meta.url));

const TIME_AND_CHANCE = [
  'Date.now()',
  'performance.now()',
  'Math.random()',
  'new Date()',
  'globalThis.Date.now()',
  'globalThis.performance.now()',
  'globalThis.Math.random()',
  'setTimeout(planted, 1)',
  'setInterval(planted, 1)',
  'setImmediate(planted)',
  'globalThis.setTimeout(planted, 1)',
  'globalThis.setInterval(planted, 1)',
  'globalThis.setImmediate(planted)',
] as const;
const WALL_CLOCK = [
  'clock.now()',
  'clock?.now()',
  'clock.now() - clock.now() > 1',
  'context.clock.now()',
  'systemClock.now()',
  'clock.now',
] as const;
const NO_WALL_CLOCK = ['clock.monotonic()', 'database.now()', 'reader.now()', 'now()'] as const;
const TIMER_MODULES = ['node:timers', 'node:timers/promises', 'timers', 'timers/promises'] as const;

/** With that many lines between its braces: the two that hold the braces are not counted. */
const functionOf = (lines: number) => `export function planted() {\n${'  planted();\n'.repeat(lines)}}\n`;

/** Path -> text. */
const planted: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    TIME_AND_CHANCE.map((use, index) => [`src/use-${index}.ts`, `export const planted = () => ${use};\n`]),
  ),
  ...Object.fromEntries(
    WALL_CLOCK.map((use, index) => [`src/server/wall-${index}.ts`, `export const planted = () => ${use};\n`]),
  ),
  ...Object.fromEntries(
    NO_WALL_CLOCK.map((use, index) => [`src/server/other-${index}.ts`, `export const planted = () => ${use};\n`]),
  ),
  'src/server/auth/resume-tokens.ts': 'export const planted = () => clock.now();\n',
  ...Object.fromEntries(TIMER_MODULES.map((name, index) => [`src/module-${index}.ts`, `export * from '${name}';\n`])),
  'src/support/clock.ts': 'export const planted = () => [Date.now(), setTimeout(planted, 1)];\n',
  'src/given.ts': 'export const planted = (ms: number) => new Date(ms);\n',
  'src/function-41.ts': functionOf(41),
  'src/file-301.ts': 'export {};\n'.repeat(301),
  'src/small.ts': `${functionOf(40)}${'export {};\n'.repeat(258)}`,
};

const report = z.object({
  diagnostics: z.array(z.object({ category: z.string(), location: z.object({ path: z.string() }) })),
});

let folder: string;
let found: z.infer<typeof report>['diagnostics'];

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'signalbox-lint-'));
  for (const [path, text] of Object.entries(planted)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  const config = JSON.parse(readFileSync(join(root, 'biome.json'), 'utf8'));
  // The folder belongs to no repository.
  writeFileSync(join(folder, 'biome.json'), JSON.stringify({ ...config, vcs: { enabled: false } }));
  cpSync(join(root, 'scripts/lint'), join(folder, 'scripts/lint'), { recursive: true });
  const linter = join(root, 'node_modules/.bin/biome');
  const args = ['lint', '--reporter=json', '--max-diagnostics=none', 'src'];
  const { stdout, error } = spawnSync(linter, args, { cwd: folder, encoding: 'utf8' });
  if (error) throw error;
  found = report.parse(JSON.parse(stdout)).diagnostics;
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Of what is reported of a file, the rules that this test is about. */
const faultsOf = (path: string) =>
  found
    .filter(({ location }) => location.path === path)
    .map(({ category }) => category.replace('lint/', ''))
    .filter((rule) => /plugin|noRestricted|noExcessive/.test(rule));

describe('the linter reports time and chance that are not arguments', () => {
  test.each(TIME_AND_CHANCE.map((use, index) => [use, index] as const))('%s', (use, index) => {
    expect(faultsOf(`src/use-${index}.ts`)).toEqual([use.startsWith('set') ? 'style/noRestrictedGlobals' : 'plugin']);
  });

  test.each(TIMER_MODULES.map((name, index) => [name, index] as const))('an import of %s', (_name, index) => {
    expect(faultsOf(`src/module-${index}.ts`)).toEqual(['style/noRestrictedImports']);
  });

  test('and nothing where a clock is made', () => {
    expect(faultsOf('src/support/clock.ts')).toEqual([]);
  });

  test('and nothing about an instant that is given', () => {
    expect(faultsOf('src/given.ts')).toEqual([]);
  });
});

describe('the linter reports the wall clock where no instant is needed', () => {
  test.each(WALL_CLOCK.map((use, index) => [use, index] as const))('%s', (_use, index) => {
    expect(new Set(faultsOf(`src/server/wall-${index}.ts`))).toEqual(new Set(['plugin']));
  });

  test.each(NO_WALL_CLOCK.map((use, index) => [use, index] as const))('and nothing about %s', (_use, index) => {
    expect(faultsOf(`src/server/other-${index}.ts`)).toEqual([]);
  });

  test('and nothing where an instant is listed as needed', () => {
    expect(faultsOf('src/server/auth/resume-tokens.ts')).toEqual([]);
  });
});

describe('the linter reports what is too long', () => {
  test('a function of 41 lines', () => {
    expect(faultsOf('src/function-41.ts')).toEqual(['complexity/noExcessiveLinesPerFunction']);
  });

  test('a file of 301 lines', () => {
    expect(faultsOf('src/file-301.ts')).toEqual(['style/noExcessiveLinesPerFile']);
  });

  test('and neither a function of 40 lines nor a file of 300', () => {
    expect(faultsOf('src/small.ts')).toEqual([]);
  });
});
