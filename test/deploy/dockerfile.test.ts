import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { copiesOf, instructionsOf, stagesOf } from './dockerfile.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const text = read('Dockerfile');
const stages = stagesOf(text);
const last = stages.at(-1) ?? { name: '', from: '', instructions: [] };
const manifest = z.object({ bin: z.object({ signalbox: z.string() }) }).parse(JSON.parse(read('package.json')));

test('the image runs everything as an unprivileged user', () => {
  const names = last.instructions.map(({ name }) => name);
  expect(one('USER')).toBe('node');
  expect(names.indexOf('USER')).toBeLessThan(names.indexOf('CMD'));
  // Files of root: nothing may be given to the user who runs them.
  expect(text).not.toMatch(/--chown|chmod/);
});

test('the image starts the program that package.json names, and stops it by a signal that it handles', () => {
  expect(JSON.parse(one('CMD'))).toEqual(['node', manifest.bin.signalbox, 'serve']);
  expect(one('STOPSIGNAL')).toBe('SIGTERM');
});

test('the health check asks for liveness, by the command that reads the options as the server does', () => {
  const check = one('HEALTHCHECK');
  expect(JSON.parse(check.slice(check.indexOf('CMD') + 3))).toEqual(['node', manifest.bin.signalbox, 'health']);
  expect(one('ENV')).toContain(`PORT=${one('EXPOSE')}`);
});

test('the image ships no development tool and no source', () => {
  const copies = copiesOf(last);
  const installed = stages.find(
    ({ name }) => name === copies.find(({ sources }) => sources[0]?.endsWith('node_modules'))?.from,
  );
  expect(installed?.instructions.map((step) => step.text)).toContain('npm ci --omit=dev');
  const own = copies.filter(({ from }) => from === undefined).flatMap(({ sources }) => sources);
  expect(own).toEqual(['package.json', 'LICENSE']);
});

test('stages copy from stages that exist, and every stage has the same base', () => {
  const names = stages.map(({ name }) => name);
  for (const { from } of stages.flatMap(copiesOf)) if (from !== undefined) expect(names).toContain(from);
  expect(new Set(stages.map(({ from }) => from)).size).toBe(1);
});

test('every copied file exists, and .dockerignore lets it through', () => {
  const allowed = read('.dockerignore')
    .split('\n')
    .filter((line) => line.startsWith('!'))
    .map((line) => line.slice(1));
  const sources = stages
    .flatMap(copiesOf)
    .filter(({ from }) => from === undefined)
    .flatMap((copy) => copy.sources);
  for (const source of sources) expect(existsSync(resolve(root, source)), source).toBe(true);
  expect(new Set(allowed)).toEqual(new Set(sources));
});

test('the Dockerfile holds no secret', () => {
  const set = instructionsOf(text).filter(({ name }) => name === 'ARG' || name === 'ENV');
  for (const { text: value } of set) expect(value).not.toMatch(/SECRET|TOKEN|PASSWORD|KEY/i);
  expect(read('.dockerignore').split('\n')).toEqual(expect.arrayContaining(['*', '**/.env*']));
});

function one(name: string): string {
  const found = last.instructions.filter((instruction) => instruction.name === name);
  expect(found, name).toHaveLength(1);
  return found[0]?.text ?? '';
}

function read(path: string): string {
  return readFileSync(resolve(root, path), 'utf8');
}
