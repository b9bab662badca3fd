/** `signalbox reference`: references on the command line. */
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { temporaryFolder } from '../support/process.ts';
import { startRedis } from '../support/redis.ts';
import { runSignalbox } from '../support/signalbox.ts';

const YEAR = new Date().getUTCFullYear();

test('one reference is printed on each line, and the next run continues', async () => {
  await using folder = await temporaryFolder();
  const env = { SIGNALBOX_DATA_DIR: folder.path };
  expect(await runSignalbox(['reference', 'order', '-n', '3'], env)).toEqual({
    code: 0,
    stderr: '',
    stdout: [1, 2, 3].map((number) => `ORD${YEAR}0000000${number}\n`).join(''),
  });
  expect((await runSignalbox(['reference', 'order'], env)).stdout).toBe(`ORD${YEAR}00000004\n`);
  expect((await runSignalbox(['reference', 'user', '--count', '1'], env)).stdout).toBe(`USR${YEAR}00000001\n`);
});

test('without options the ledger is in the directory data, as for serve', async () => {
  expect((await runSignalbox(['reference', 'product'])).stdout).toBe(`PRO${YEAR}00000001\n`);
});

test('a configured item type works with more than one batch', async () => {
  const { stdout } = await runSignalbox(['reference', 'invoice', '-n', '25000'], {
    SIGNALBOX_ITEM_TYPES: 'invoice=5:INV:6',
  });
  const lines = stdout.trimEnd().split('\n');
  expect(new Set(lines).size).toBe(25_000);
  expect([lines[0], lines.at(-1)]).toEqual([`INV${YEAR}000001`, `INV${YEAR}025000`]);
});

test('references are counted with Redis and a database', async () => {
  await using redis = await startRedis();
  await using folder = await temporaryFolder();
  const env = { REDIS_URL: redis.url, DATABASE_URL: `sqlite:${join(folder.path, 'all.db')}` };
  expect((await runSignalbox(['reference', 'room', '-n', '2'], env)).stdout).toBe(
    `ROM${YEAR}00000001\nROM${YEAR}00000002\n`,
  );
  expect((await runSignalbox(['reference', 'room'], env)).stdout).toMatch(COUNTED_ROOM);
});

const COUNTED_ROOM = /^ROM20\d\d\d{8}\n$/;

describe('an error is one line', () => {
  test.each<[string, string[], Record<string, string>, number, RegExp]>([
    ['a missing type', [], {}, 2, /missing required argument 'type'/],
    ['an unknown type', ['cat'], {}, 2, /no item type "cat": there are order, user, product, room/],
    ['a count that is not a number', ['order', '-n', 'ten'], {}, 2, /--count: must be a whole number/],
    ['a count that is too large', ['order', '-n', '1000001'], {}, 2, /--count: must be a whole number/],
    ['Redis without a database', ['order'], { REDIS_URL: 'redis://127.0.0.1:1' }, 2, /--database-url: required/],
    [
      'an unknown kind of database',
      ['order'],
      { DATABASE_URL: 'oracle://u:hunter2@x' },
      2,
      /databaseUrl: .* expected postgres:/,
    ],
    [
      'a database that does not answer',
      ['order'],
      { DATABASE_URL: 'postgres://u:hunter2@127.0.0.1:1/x' },
      1,
      /does not answer \(.*ECONNREFUSED/,
    ],
    [
      'two types with one prefix or number',
      ['order'],
      { SIGNALBOX_ITEM_TYPES: 'bill=1:BIL:8' },
      2,
      /itemTypes: .* is that of order/,
    ],
  ])('%s', async (_, args, env, code, reason) => {
    const ended = await runSignalbox(['reference', ...args], env);
    expect(ended.code).toBe(code);
    expect(ended.stdout).toBe('');
    expect(ended.stderr).toMatch(reason);
    expect(ended.stderr.trimEnd().split('\n')).toHaveLength(1);
    expect(ended.stderr).not.toContain('hunter2');
  });
});

test('--help names the types and the options', async () => {
  const { code, stdout } = await runSignalbox(['reference', '--help']);
  expect(code).toBe(0);
  expect(stdout).toMatch(/order, user, product, room/);
  expect(stdout).toMatch(/--database-url/);
  expect(stdout).toMatch(/-n, --count/);
});
