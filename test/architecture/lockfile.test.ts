import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { z } from 'zod';

const dependencies = z.record(z.string(), z.string()).default({});
const manifest = read(
  'package.json',
  z.object({
    dependencies,
    devDependencies: dependencies,
    peerDependencies: dependencies,
    optionalDependencies: dependencies,
    overrides: dependencies,
  }),
);
const lockfile = read(
  'package-lock.json',
  z.object({
    packages: z.record(z.string(), z.object({ version: z.string().optional(), resolved: z.string().optional() })),
  }),
);

// Older ones lie inside of the ranges that socket.io asks for, and have known vulnerabilities.
test.each([
  ['engine.io', '6.6.13'],
  ['socket.io-parser', '4.2.7'],
  ['socket.io-adapter', '2.5.9'],
  ['ws', '8.23.0'],
])('every %s is %s or newer', (name, least) => {
  const versions = versionsOf(name);
  expect(versions).not.toEqual([]);
  for (const version of versions) expect(isAtLeast(version, least), `${name} ${version}`).toBe(true);
});

test('light-my-request is the version that works with this fastify', () => {
  expect(new Set(versionsOf('light-my-request'))).toEqual(new Set(['6.6.0']));
});

test('the lockfile names no host', () => {
  const placed = Object.entries(lockfile.packages).filter(([, { resolved }]) => resolved !== undefined);
  expect(placed.map(([path]) => path)).toEqual([]);
});

test.each(['dependencies', 'devDependencies', 'optionalDependencies', 'overrides'] as const)(
  '%s are pinned exactly',
  (group) => {
    const loose = Object.entries(manifest[group]).filter(([, version]) => !/^\d+\.\d+\.\d+$/.test(version));
    expect(loose).toEqual([]);
  },
);

test('versions are compared by numbers', () => {
  expect(isAtLeast('6.6.13', '6.6.13')).toBe(true);
  expect(isAtLeast('6.6.9', '6.6.13')).toBe(false);
  expect(isAtLeast('6.10.0', '6.6.13')).toBe(true);
  expect(isAtLeast('5.9.99', '6.6.13')).toBe(false);
  // A pre-release comes before its release.
  expect(isAtLeast('6.6.13-beta.1', '6.6.13')).toBe(false);
});

function versionsOf(name: string): string[] {
  return Object.entries(lockfile.packages)
    .filter(([path]) => path === `node_modules/${name}` || path.endsWith(`/node_modules/${name}`))
    .map(([, { version }]) => version ?? 'none');
}

function isAtLeast(version: string, least: string): boolean {
  if (!/^\d+\.\d+\.\d+$/.test(version)) return false;
  const difference = parts(version).map((part, index) => part - (parts(least)[index] ?? 0));
  return (difference.find((part) => part !== 0) ?? 0) >= 0;
}

function parts(version: string): number[] {
  return version.split('.').map(Number);
}

function read<T>(name: string, schema: z.ZodType<T>): T {
  return schema.parse(JSON.parse(readFileSync(new URL(`../../${name}`, import.meta.url), 'utf8')));
}
