import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { FEED } from '../../src/protocol/feed.ts';
import { PUSHES } from '../../src/protocol/messages.ts';
import { FEED_TYPE_OF } from '../../src/room/feed-events.ts';

test('the translation of event names knows both vocabularies', () => {
  expect(Object.keys(FEED_TYPE_OF).filter((name) => !(name in PUSHES))).toEqual([]);
  expect(Object.values(FEED_TYPE_OF).filter((type) => !(type in FEED))).toEqual([]);
  expect(new Set(Object.values(FEED_TYPE_OF)).size).toBe(Object.keys(FEED_TYPE_OF).length);
});

test('decision 020 prints the translation', () => {
  const page = readFileSync(new URL('../../docs/decisions/020-two-vocabularies-of-events.md', import.meta.url), 'utf8');
  const rows = [...page.matchAll(/^\| `([a-z:]+)`\s*\| `([a-z_]+)`/gm)].map(([, name, type]) => [name, type]);
  expect(rows).toEqual(Object.entries(FEED_TYPE_OF));
});
