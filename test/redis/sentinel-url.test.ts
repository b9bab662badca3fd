import { describe, expect, test } from 'vitest';
import { readSentinelUrl } from '../../src/redis/sentinel/url.ts';
import { addressOf, databaseOf } from '../../src/redis/url.ts';
import { readOptions } from '../../src/server/options/options.ts';

describe('the URL of a Redis that sentinels watch', () => {
  test('names sentinels, primary, database, and the users of Redis and of the sentinels', () => {
    const url =
      'rediss+sentinel://ann:p%40ss@one:26380,two,[2001:db8::1]:1/calls-1.eu_2/3?sentinelUsername=bob&sentinelPassword=a%26+b';
    expect(readOptions({ redisUrl: url }).redisUrl).toBe(url);
    expect(readSentinelUrl(url)).toEqual({
      sentinels: {
        sentinels: [
          { host: 'one', port: 26_380 },
          { host: 'two', port: 26_379 },
          { host: '2001:db8::1', port: 1 },
        ],
        masterName: 'calls-1.eu_2',
        username: 'bob',
        password: 'a&+b',
        tls: true,
      },
      username: 'ann',
      password: 'p@ss',
      database: 3,
    });
    expect(databaseOf(url)).toBe(3);
    expect(addressOf(url)).toBe('calls-1.eu_2 of the sentinels one:26380, two:26379, 2001:db8::1:1');
  });

  test('needs neither port, database, user nor TLS', () => {
    const { sentinels, username, password, database } = readSentinelUrl('redis+sentinel://host/calls');
    expect(sentinels).toMatchObject({ sentinels: [{ host: 'host', port: 26_379 }], masterName: 'calls', tls: false });
    expect(sentinels.password).toBeUndefined();
    expect([username, password, database]).toEqual([undefined, undefined, 0]);
    expect(readSentinelUrl('redis+sentinel://:secret@host/calls/')).toMatchObject({ password: 'secret', database: 0 });
  });

  test.each([
    'redis+sentinel://',
    'redis+sentinel:///calls',
    'redis+sentinel://host',
    'redis+sentinel://host/',
    'redis+sentinel://host//0',
    'redis+sentinel://host/two words',
    'redis+sentinel://host/calls/x',
    'redis+sentinel://host/calls/0/1',
    'redis+sentinel://host/calls/999999',
    'redis+sentinel://host,/calls',
    'redis+sentinel://,host/calls',
    'redis+sentinel://host, other/calls',
    'redis+sentinel://host:0/calls',
    'redis+sentinel://host:port/calls',
    'redis+sentinel://host:/calls',
    'redis+sentinel://$HOST/calls',
    'redis+sentinel://u:hunter2%@host/calls',
    'redis+sentinel://u:hunter2/x@host/calls',
    'redis+sentinel://u:hunter2@host@other/calls',
    'redis+sentinel://host/calls#0',
    'redis+sentinel://host/calls?db=1',
    'redis+sentinel://host/calls?sentinelPassword',
    'redis+sentinel://host/calls?sentinelPassword=hunter2&sentinelPassword=hunter2',
    'redis+sentinel://host/calls?sentinelPassword=hunter2%',
    'redis+sentinel://host/calls?sentinelUsername=hunter2',
    'redis+sentinels://host/calls',
    'redis-sentinel://host/calls',
  ])('%j is refused, and no secret is repeated', (redisUrl) => {
    const read = () => readOptions({ redisUrl });
    expect(read).toThrow(/^redisUrl: .*redis\+sentinel:/);
    expect(read).not.toThrow('hunter2');
  });
});
