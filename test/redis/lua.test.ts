/** Every Lua file: its header names its keys and arguments, so that it can be read alone. */
import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { loadAuditScript, loadFeedScripts, loadScripts, SHARED_FILES } from '../../src/engine/redis/scripts.ts';
import { loadProbeScript } from '../../src/redis/write-probe.ts';
import { loadQueueScripts } from '../../src/webhooks/queue/redis-partitions.ts';

const FOLDERS = ['redis/lua', 'engine/redis/lua', 'webhooks/queue/lua'];
const SHARED = new Set([
  'redis/lua/prelude',
  ...Object.values(SHARED_FILES)
    .flat()
    .map((name) => `engine/redis/lua/${name}`),
  'webhooks/queue/lua/room-queues',
]);

/** Paths in `src`, without the extension. */
const files = FOLDERS.flatMap((folder) =>
  readdirSync(new URL(`../../src/${folder}`, import.meta.url), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.lua'))
    .map((path) => `${folder}/${path.replace(/\.lua$/, '')}`),
);

const readLua = (path: string): string => readFileSync(new URL(`../../src/${path}.lua`, import.meta.url), 'utf8');

function parts(path: string) {
  const lines = readLua(path).split('\n');
  const begin = lines.findIndex((line) => line !== '' && !line.startsWith('#!') && !line.startsWith('--'));
  return {
    header: lines.slice(0, begin).join('\n'),
    code: lines
      .slice(begin)
      .filter((line) => !line.trimStart().startsWith('--'))
      .join('\n'),
  };
}

/** `KEYS[1..4]` names four. */
function named(header: string): Set<string> {
  const names = [...header.matchAll(/\b(KEYS|ARGV)\[(\d+)(?:\.\.(\d+))?\]/g)].flatMap(([, list, first, last = first]) =>
    Array.from({ length: Number(last) - Number(first) + 1 }, (_, step) => `${list}[${Number(first) + step}]`),
  );
  return new Set(names);
}

describe.each(files)('%s.lua', (path) => {
  const { header, code } = parts(path);

  test('its header names every key and argument it uses', () => {
    const used = new Set([...code.matchAll(/\b(?:KEYS|ARGV)\[\d+\]/g)].map(([text]) => text));
    expect([...used].filter((text) => !named(header).has(text))).toEqual([]);
  });

  test('its header names every field of the command it uses', () => {
    const used = new Set([...code.matchAll(/\bcommand\.(\w+)/g)].map(([, field = '']) => field));
    expect([...used].filter((field) => !new RegExp(String.raw`\b${field}\b`).test(header))).toEqual([]);
  });

  test('it has a shebang, unless other scripts include it', () => {
    expect(readLua(path).startsWith('#!lua')).toBe(!SHARED.has(path));
  });
});

const scripts = [
  ...[loadScripts(), loadFeedScripts(), loadQueueScripts()].flatMap((some) => Object.values(some)),
  loadProbeScript(),
];

test('every script begins with one shebang, which makes Redis refuse keys of another hash slot', () => {
  for (const { source } of scripts) {
    expect(source).toMatch(/^#!lua/);
    expect(source.match(/#!/g)).toHaveLength(1);
  }
});

test('every Lua file is part of a script', () => {
  const sources = [...scripts, loadAuditScript()].map(({ source }) => source);
  const unused = files.filter((path) => {
    const [first = '', ...rest] = readLua(path).split('\n');
    const own = first.startsWith('#!') ? rest : [first, ...rest];
    return !sources.some((source) => source.includes(own.join('\n')));
  });
  expect(unused).toEqual([]);
});
