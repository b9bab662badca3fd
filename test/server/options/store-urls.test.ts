/** URLs of Redis, of databases and of webhooks: what a driver would misread is refused at start, and no secret is repeated. */
import { describe, expect, test } from 'vitest';
import { openDatabase } from '../../../src/database/open.ts';
import { addressOf } from '../../../src/redis/url.ts';
import { OptionError, type PartialOptions, readOptions } from '../../../src/server/options/options.ts';

const SECRET = 'hunter2';

/** Of all URLs with a host: an authority that is not what it looks like. `{s}` is the scheme, `{p}` a path. */
const AUTHORITIES = [
  [
    '{s}',
    '{s}//',
    '{s}host{p}',
    '{s}/host{p}',
    '{s}//{p}',
    '{s}//:6000{p}',
    '{s}//:hunter2@{p}',
    '//host{p}',
    'host:6000',
    ' ',
  ],
  [
    '{s}//host:0{p}',
    '{s}//host:65536{p}',
    '{s}//host:port{p}',
    '{s}//host:{p}',
    '{s}//host:-1{p}',
    '{s}//host:6000:1{p}',
  ],
  ['{s}//::1{p}', '{s}//[::1{p}', '{s}//[::1]x{p}', '{s}//2001:db8::1{p}', '{s}//256.1.1.1{p}', '{s}//1.2.3.4.5{p}'],
  [
    '{s}//$HOST{p}',
    '{s}//{{host}}{p}',
    '{s}//<host>{p}',
    '{s}//*{p}',
    '{s}//a,b{p}',
    '{s}//"host"{p}',
    '{s}//ho st{p}',
  ],
  [
    ' {s}//host{p}',
    '{s}//host{p}\n',
    '{s}//ho\tst{p}',
    '{s}\\\\host{p}',
    '"{s}//host{p}"',
    '{s}//host..{p}',
    '{s}//.host{p}',
  ],
  ['{s}//u:hunter2#x@host{p}', '{s}//u:hunter2/x@host{p}', '{s}//u:hunter2?x@host{p}', '{s}//u:hunter2%@host{p}'],
  ['ftp://host{p}', 'http:/host{p}', 'null', 'undefined', '{s}x//host{p}'],
].flat();

const filled = (scheme: string, path: string, texts = AUTHORITIES) =>
  texts.map((text) => text.replaceAll('{s}', scheme).replaceAll('{p}', path));

const list = (...texts: string[]): readonly string[] => texts;

function expectRefused(option: string, options: PartialOptions): void {
  const read = () => readOptions(options);
  expect(read).toThrow(OptionError);
  expect(read).toThrow(new RegExp(`^${option}: `));
  expect(read).not.toThrow(SECRET);
}

describe('the URL of Redis', () => {
  test.each([
    ['redis://localhost', 'localhost:6379'],
    ['redis://redis_1.internal:6380/0', 'redis_1.internal:6380'],
    ['rediss://user:p%40ss@host:65535/15', 'host:65535'],
    ['REDIS://:hunter2@192.0.2.1/', '192.0.2.1:6379'],
    ['redis://[2001:db8::1]:6379', '[2001:db8::1]:6379'],
    ['unix:///run/redis.sock', '/run/redis.sock'],
    ['unix://user:hunter2@/run/redis.sock?db=1', '/run/redis.sock'],
  ])('%s leads to %s', (redisUrl, address) => {
    expect(readOptions({ redisUrl }).redisUrl).toBe(redisUrl);
    expect(addressOf(redisUrl)).toBe(address);
  });

  test.each([
    ...filled('redis:', ''),
    ...filled('rediss:', '/1'),
    ...filled('redis://host', '', [
      '{s}/x',
      '{s}/0x1',
      '{s}/1e1',
      '{s}/-1',
      '{s}/1.5',
      '{s}/1/',
      '{s}/1/2',
      '{s}//1',
      '{s}/%31',
    ]),
    ...filled('redis://host', '', ['{s}?db=1', '{s}/0?db=1', '{s}/1#0', '{s}/ 1', '{s}/999999']),
    ...list(
      'unix:',
      'unix://',
      'unix:///',
      'unix://path',
      'unix:/run/x',
      'unix:///x?db=one',
      'unix:///x?database=1',
      'UNIX:///x',
    ),
    ...list(
      'redis-sentinel://host',
      'http://host',
      'https://host:6379',
      'localhost',
      'localhost:6379',
      '127.0.0.1:6379',
      '',
    ),
  ])('%j is refused', (redisUrl) => {
    expectRefused('redisUrl', { redisUrl });
    expect(() => addressOf(redisUrl)).toThrow('expected redis://');
  });
});

describe('the URL of a database', () => {
  test.each([
    'postgres://user:p%40ss@host/name',
    'postgresql://host:5433/name?sslmode=require',
    'postgres://user@host',
    'postgres:///name?host=/run/postgresql',
    'postgres://user@/db?host=/var/run/postgresql',
    'postgres://user@%2Frun%2Fpostgresql/name',
    'mysql://user:hunter2@[2001:db8::1]:3306/name',
    'mariadb://host/name?charset=utf8mb4',
    'sqlite:data/calls.db',
    'sqlite:/var/lib/calls.db',
    'sqlite:///var/lib/calls.db',
    'sqlite:./calls #1.db',
  ])('%s is accepted', async (databaseUrl) => {
    expect(readOptions({ databaseUrl }).databaseUrl).toBe(databaseUrl);
    await openDatabase(databaseUrl).close();
  });

  test.each([
    ...filled('postgres:', '/name'),
    ...filled('mysql:', '/name'),
    ...list(
      'mysql://host',
      'mysql://host/',
      'mariadb://host',
      'mysql://host/a/b',
      'postgres://host/a/b',
      'postgres://host//name',
    ),
    ...list(
      'postgres://host/name#x',
      'mysql:///name',
      'postgres:///name',
      'mysql://%2Frun%2Fmysqld/name',
      'postgres:name',
    ),
    ...list(
      'sqlite:',
      'sqlite:/',
      'sqlite:.',
      'sqlite://calls.db',
      'sqlite://host/calls.db',
      'sqlite:calls.db\n',
      'sqlite://[/x',
    ),
    ...list('file:calls.db', 'calls.db', '/var/lib/calls.db', 'jdbc:mysql://host/name', 'mongodb://host/name', ''),
  ])('%j is refused', (databaseUrl) => {
    expectRefused('databaseUrl', { databaseUrl });
    expect(() => openDatabase(databaseUrl)).toThrow('expected postgres://');
  });
});

describe('the URL of a webhook', () => {
  const webhookSecrets = ['s'.repeat(16)];

  test.each(['https://example.org/hooks', 'https://user:p%40ss@example.org:8443/hooks?key=x', 'HTTPS://example.org'])(
    '%s is accepted',
    (url) => {
      expect(readOptions({ webhookUrls: [url], webhookSecrets }).webhookUrls).toEqual([url]);
    },
  );

  test.each([
    ...filled('https:', '/hooks'),
    'https://example.org/#hooks',
    'wss://example.org',
    'data:,x',
    'example.org/hooks',
  ])('%j is refused', (url) => {
    for (const webhookAllowPrivate of [false, true])
      expectRefused('webhookUrls', { webhookUrls: [url], webhookSecrets, webhookAllowPrivate });
  });
});
