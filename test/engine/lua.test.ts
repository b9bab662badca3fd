/** The scripts as they are read: whoever opens one learns from its header what it is given. */
import { readdirSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import {
  loadAuditScript,
  loadDeliveryScripts,
  loadFeedScripts,
  loadScripts,
  readLuaFile,
  SHARED_FILES,
} from '../../src/engine/redis/scripts.ts';

/** Those of the commands, of the feed, of deliveries: each by its path without its ending. */
const files = readdirSync(new URL('../../src/engine/redis/lua/', import.meta.url), {
  recursive: true,
  encoding: 'utf8',
})
  .filter((path) => path.endsWith('.lua'))
  .map((path) => path.replace(/\.lua$/, ''));
const shared = new Set([...Object.values(SHARED_FILES).flat(), 'deliveries/lanes']);

function parts(name: string) {
  const lines = readLuaFile(name).split('\n');
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

describe.each(files)('%s.lua', (name) => {
  const { header, code } = parts(name);

  test('its header names every key and argument it uses', () => {
    const used = new Set([...code.matchAll(/\b(?:KEYS|ARGV)\[\d+\]/g)].map(([text]) => text));
    expect([...used].filter((text) => !named(header).has(text))).toEqual([]);
  });

  test('its header names every field of the command it uses', () => {
    const used = new Set([...code.matchAll(/\bcommand\.(\w+)/g)].map(([, field = '']) => field));
    expect([...used].filter((field) => !new RegExp(String.raw`\b${field}\b`).test(header))).toEqual([]);
  });

  test('it has a shebang, or is part of those that have', () => {
    expect(readLuaFile(name).startsWith('#!lua')).toBe(!shared.has(name));
  });
});

const scripts = [loadScripts(), loadFeedScripts(), loadDeliveryScripts()].flatMap((some) => Object.values(some));

test('every script begins with one shebang, so that Redis refuses keys of another slot', () => {
  for (const { source } of scripts) {
    expect(source).toMatch(/^#!lua/);
    expect(source.match(/#!/g)).toHaveLength(1);
  }
});

test('every file is part of a script', () => {
  const sources = [...scripts, loadAuditScript()].map(({ source }) => source);
  const unused = files.filter((name) => {
    const [first = '', ...rest] = readLuaFile(name).split('\n');
    const own = first.startsWith('#!') ? rest : [first, ...rest];
    return !sources.some((source) => source.includes(own.join('\n')));
  });
  expect(unused).toEqual([]);
});
