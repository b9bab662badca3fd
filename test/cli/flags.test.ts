/** One option has a flag, a SIGNALBOX_ variable and for some a plain variable. */
import { expect, test } from 'vitest';
import { flagOf, readFlags, variableOf } from '../../src/cli/flags.ts';
import { OPTIONS, OptionError, type OptionName } from '../../src/server/options/options.ts';

test('an option name is converted to its flag and its variable', () => {
  expect(flagOf('graceMs')).toBe('--grace-ms');
  expect(variableOf('graceMs')).toBe('SIGNALBOX_GRACE_MS');
  expect(variableOf('host')).toBe('SIGNALBOX_HOST');
});

test('no two options share a spelling', () => {
  const names = Object.keys(OPTIONS) as OptionName[]; // the table's own keys
  expect(new Set(names.flatMap((name) => [flagOf(name), variableOf(name)])).size).toBe(2 * names.length);
});

test('values are parsed by the type of the option', () => {
  const given = {
    graceMs: '500',
    demo: 'false',
    trustedProxies: ' 10.0.0.0/8, ::1 ,',
    nodeId: 'north',
    poolLowWater: '0.25',
  };
  expect(readFlags(given, {})).toEqual({
    graceMs: 500,
    demo: false,
    trustedProxies: ['10.0.0.0/8', '::1'],
    nodeId: 'north',
    poolLowWater: 0.25,
  });
});

test('a boolean flag may stand without a value', () => {
  expect(readFlags({ webhookAllowPrivate: true, demo: 'false' }, {})).toEqual({
    webhookAllowPrivate: true,
    demo: false,
  });
  expect(readFlags({ demo: true }, { SIGNALBOX_DEMO: 'false' })).toEqual({ demo: true });
});

test('a flag wins over a SIGNALBOX_ variable, which wins over a plain one; an empty variable is ignored', () => {
  const all = { SIGNALBOX_PORT: '2', PORT: '1' };
  expect(readFlags({ port: '3' }, all)).toEqual({ port: 3 });
  expect(readFlags({}, all)).toEqual({ port: 2 });
  expect(readFlags({}, { ...all, SIGNALBOX_PORT: '' })).toEqual({ port: 1 });
  expect(readFlags({}, { PORT: '', SIGNALBOX_SECRET: '', PATH: '/bin' })).toEqual({});
  expect(readFlags({}, { HOST: '::1', REDIS_URL: 'redis://r' })).toEqual({ host: '::1', redisUrl: 'redis://r' });
});

test('TURN: an empty list is ignored, and the secrets have a plain variable', () => {
  const empty = { SIGNALBOX_TURN_URLS: '', SIGNALBOX_TURN_SECRETS: '', TURN_SECRET: '' };
  expect(readFlags({}, empty)).toEqual({});
  expect(
    readFlags({}, { ...empty, SIGNALBOX_TURN_URLS: 'turn:a?transport=udp, turns:b', TURN_SECRET: 'new,old' }),
  ).toEqual({
    turnUrls: ['turn:a?transport=udp', 'turns:b'],
    turnSecrets: ['new', 'old'],
  });
  expect(readFlags({}, { SIGNALBOX_TURN_SECRETS: 'one', TURN_SECRET: 'two' })).toEqual({ turnSecrets: ['one'] });
});

test.each<[string, Record<string, string>, Record<string, string>, string]>([
  ['a unit', { graceMs: '30s' }, {}, '--grace-ms'],
  ['hexadecimal', {}, { SIGNALBOX_GRACE_MS: '0x10' }, 'SIGNALBOX_GRACE_MS'],
  ['an exponent', {}, { SIGNALBOX_GRACE_MS: '1e3' }, 'SIGNALBOX_GRACE_MS'],
  ['a blank', {}, { SIGNALBOX_GRACE_MS: ' ' }, 'SIGNALBOX_GRACE_MS'],
  ['a word for a plain variable', {}, { PORT: 'http' }, 'PORT'],
  ['the word yes', { demo: 'yes' }, {}, '--demo'],
  ['an unknown variable', {}, { SIGNALBOX_GRACE: '1' }, 'SIGNALBOX_GRACE'],
  ['a variable in small letters', {}, { SIGNALBOX_graceMs: '1' }, 'SIGNALBOX_graceMs'],
  ['the variable __proto__', {}, { SIGNALBOX___PROTO__: '1' }, 'SIGNALBOX___PROTO__'],
])('%s is refused with the name of the flag or variable', (_, given, environment, option) => {
  const read = () => readFlags(given, environment);
  expect(read).toThrow(OptionError);
  expect(read).toThrow(expect.objectContaining({ option }));
});
