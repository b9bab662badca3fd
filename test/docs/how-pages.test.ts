/** `docs/how-a-join-travels.md` and `docs/how-to-add.md` name files that exist, few of them, in an order that imports allow. */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { scan } from '../architecture/imports.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const read = (path: string) => readFileSync(join(root, path), 'utf8');

interface Step {
  readonly file: string;
  readonly isEntry: boolean;
}

const walk: readonly Step[] = [
  ...read('docs/how-a-join-travels.md').matchAll(/^\d+\. `(src\/[^`]+)`( \(entry\))?/gm),
].map(([, file = '', entry]) => ({ file, isEntry: entry !== undefined }));
const files = walk.map(({ file }) => file);

describe('the walk of a join', () => {
  test('opens at most ten files of the server and six of the engine, each once', () => {
    expect(new Set(files).size).toBe(files.length);
    const server = files.filter((file) => file.startsWith('src/server/'));
    const engine = files.filter((file) => file.startsWith('src/engine/'));
    expect([...server, ...engine].sort()).toEqual([...files].sort());
    expect(server.length).toBeGreaterThan(5);
    expect(server.length).toBeLessThanOrEqual(10);
    expect(engine.length).toBeGreaterThan(3);
    expect(engine.length).toBeLessThanOrEqual(6);
  });

  test.each(walk.filter(({ file, isEntry }) => file.endsWith('.ts') && !isEntry))(
    '$file is imported by a file above it',
    ({ file }) => {
      const above = files.slice(0, files.indexOf(file)).filter((name) => name.endsWith('.ts'));
      expect(above.filter((importer) => importsOf(importer).includes(file))).not.toEqual([]);
    },
  );

  test('names its functions as the files do', () => {
    const page = read('docs/how-a-join-travels.md');
    const steps = [...page.matchAll(/^\d+\. `(src\/[^`]+)`(.*?)(?=^\d+\. |^$)/gms)];
    expect(steps).toHaveLength(files.length);
    for (const [, file = '', text = ''] of steps) {
      const names = [...text.matchAll(/`([A-Za-z_.]+)`/g)].map(([, name = '']) => name.split('.').at(-1) ?? '');
      const source = read(file);
      expect(
        names.filter((name) => !source.includes(name)),
        file,
      ).toEqual([]);
    }
  });
});

test.each(['docs/how-a-join-travels.md', 'docs/how-to-add.md'])('every path that %s names exists', (page) => {
  const paths = [...read(page).matchAll(/`((?:src|test|scripts|docs)\/[^`\s]+)`/g)].map(([, path = '']) => path);
  expect(paths.length).toBeGreaterThan(10);
  expect(paths.filter((path) => !existsSync(join(root, path)) && !PLANNED.includes(path))).toEqual([]);
});

/** The files of the examples. */
const PLANNED = ['src/engine/redis/lua/transfer.lua'];

test('no list of docs/how-to-add.md is longer than five files', () => {
  const lists = read('docs/how-to-add.md').matchAll(/^(?:\d+\. .*\n(?: .*\n)*)+/gm);
  const lengths = [...lists].map(([list]) => [...list.matchAll(/^\d+\. /gm)].length);
  expect(lengths).toHaveLength(6);
  expect(Math.max(...lengths)).toBeLessThanOrEqual(5);
});

/** A step of `docs/how-to-add.md` begins with its file or folder; the constants that it names stand in that. */
test('docs/how-to-add.md names constants as the files do', () => {
  const steps = [...read('docs/how-to-add.md').matchAll(/^\d+\. `(src\/[^`]+)`(.*?)(?=^\d+\. |^$)/gms)];
  const named = steps.flatMap(([, file = '', text = '']) =>
    [...text.matchAll(/`([A-Z][A-Z_]+)`/g)].map(([, constant = '']) => ({ file, constant })),
  );
  expect(named.length).toBeGreaterThan(4);
  expect(named.filter(({ file, constant }) => !new RegExp(String.raw`\b${constant}\b`).test(read(file)))).toEqual([]);
});

function importsOf(file: string): string[] {
  return scan(file, read(file))
    .imports.filter(({ specifier }) => specifier.startsWith('.'))
    .map(({ specifier }) => join(dirname(file), specifier));
}
