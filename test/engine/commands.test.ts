/** A command is four places: its type with its outcome, its rule, its Lua file, its row. None can be forgotten. */
import { readdirSync } from 'node:fs';
import { expect, test } from 'vitest';
import { COMMANDS } from '../../src/engine/redis/commands.ts';
import { SHARED_FILES } from '../../src/engine/redis/scripts.ts';
import type { Command, Outcome } from '../../src/room/commands.ts';
import { isUserCommand, SHARD_RULES, USER_RULES } from '../../src/room/rules.ts';

const kinds = [...Object.keys(SHARD_RULES), ...Object.keys(USER_RULES)].toSorted();

test('every rule has a row for Redis, and every row a rule', () => {
  expect(Object.keys(COMMANDS).toSorted()).toEqual(kinds);
});

test('every row has a Lua file of its name, and every Lua file is a row or shared', () => {
  const files = readdirSync(new URL('../../src/engine/redis/lua/', import.meta.url)).flatMap((name) =>
    name.endsWith('.lua') ? [name.replace(/\.lua$/, '')] : [],
  );
  const others = new Set<string>([...Object.values(SHARED_FILES).flat(), 'audit']);
  expect(files.filter((name) => !others.has(name)).toSorted()).toEqual(kinds);
});

test('the scope of a row is that of its rule', () => {
  for (const [kind, { scope }] of Object.entries(COMMANDS)) {
    expect(isUserCommand({ kind } as Command), kind).toBe(scope === 'user');
  }
});

test('the compiler asks for every place', () => {
  const { kick: _rule, ...rules } = SHARD_RULES;
  // @ts-expect-error A rule is missing.
  const incompleteRules: typeof SHARD_RULES = rules;
  const { kick: _row, ...rows } = COMMANDS;
  // @ts-expect-error A row is missing.
  const incompleteRows: typeof COMMANDS = rows;
  // @ts-expect-error A command outside the table has no outcome.
  type NoOutcome = Outcome<{ readonly kind: 'paint' }>;
  expect([incompleteRules, incompleteRows, undefined as NoOutcome]).toHaveLength(3);
});
