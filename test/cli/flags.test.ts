/** One option has a flag, a SIGNALBOX_ variable and for some a plain variable. */
import { writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { describe, expect, test } from 'vitest';
import type { Environment } from '../../src/cli/environment.ts';
import { readFlags } from '../../src/cli/flags.ts';
import { fileVariableOf, flagOf, variableOf } from '../../src/cli/option-spellings.ts';
import { OPTIONS, type OptionEntry, OptionError, type OptionName } from '../../src/server/options/options.ts';
import { type TemporaryFolder, temporaryFolder } from '../support/process.ts';

const NAMES = Object.keys(OPTIONS) as OptionName[]; // the table's own keys

const read = (given: Record<string, unknown>, environment: Environment) => readFlags(given, environment).options;

test('an option name is converted to its flag and its variable', () => {
  expect(flagOf('graceMs')).toBe('--grace-ms');
  expect(variableOf('graceMs')).toBe('SIGNALBOX_GRACE_MS');
  expect(variableOf('host')).toBe('SIGNALBOX_HOST');
});

test('no two options share a spelling', () => {
  const spellings = NAMES.flatMap((name) => [flagOf(name), variableOf(name), fileVariableOf(name)]);
  expect(new Set(spellings).size).toBe(3 * NAMES.length);
});

test('values are parsed by the type of the option', () => {
  const given = {
    graceMs: '500',
    demo: 'false',
    trustedProxies: ' 10.0.0.0/8, ::1 ,',
    nodeId: 'north',
    poolLowWater: '0.25',
  };
  expect(read(given, {})).toEqual({
    graceMs: 500,
    demo: false,
    trustedProxies: ['10.0.0.0/8', '::1'],
    nodeId: 'north',
    poolLowWater: 0.25,
  });
});

test('a boolean flag may stand without a value', () => {
  expect(read({ webhookAllowPrivate: true, demo: 'false' }, {})).toEqual({
    webhookAllowPrivate: true,
    demo: false,
  });
  expect(read({ demo: true }, { SIGNALBOX_DEMO: 'false' })).toEqual({ demo: true });
});

test('a flag wins over a SIGNALBOX_ variable, which wins over a plain one; an empty variable is ignored', () => {
  const all = { SIGNALBOX_PORT: '2', PORT: '1' };
  expect(read({ port: '3' }, all)).toEqual({ port: 3 });
  expect(read({}, all)).toEqual({ port: 2 });
  expect(read({}, { ...all, SIGNALBOX_PORT: '' })).toEqual({ port: 1 });
  expect(read({}, { PORT: '', SIGNALBOX_SECRET: '', PATH: '/bin' })).toEqual({});
  expect(read({}, { HOST: '::1', REDIS_URL: 'redis://r' })).toEqual({ host: '::1', redisUrl: 'redis://r' });
});

test('TURN: an empty list is ignored, and the secrets have a plain variable', () => {
  const empty = { SIGNALBOX_TURN_URLS: '', SIGNALBOX_TURN_SECRETS: '', TURN_SECRET: '' };
  expect(read({}, empty)).toEqual({});
  expect(read({}, { ...empty, SIGNALBOX_TURN_URLS: 'turn:a?transport=udp, turns:b', TURN_SECRET: 'new,old' })).toEqual({
    turnUrls: ['turn:a?transport=udp', 'turns:b'],
    turnSecrets: ['new', 'old'],
  });
  expect(read({}, { SIGNALBOX_TURN_SECRETS: 'one', TURN_SECRET: 'two' })).toEqual({ turnSecrets: ['one'] });
});

describe('a value has the same spellings in a flag and in a variable', () => {
  test.each<[OptionName, string, unknown]>([
    ['graceMs', '500', 500],
    ['graceMs', '500ms', 500],
    ['graceMs', '30s', 30_000],
    ['graceMs', '1.5s', 1500],
    ['graceMs', '1.1m', 66_000],
    ['graceMs', '24h', 86_400_000],
    ['callRetentionMs', '90d', 7_776_000_000],
    ['graceMs', ' 30s\r\n', 30_000],
    ['port', ' 5 ', 5],
    ['port', '5.0', 5],
    ['demo', 'YES', true],
    ['demo', 'on', true],
    ['demo', '1', true],
    ['demo', 'True\n', true],
    ['demo', 'no', false],
    ['demo', 'off', false],
    ['demo', '0', false],
    ['demo', 'FALSE', false],
    ['allowedOrigins', ' https://a.example ,\r\n,https://b.example,\n', ['https://a.example', 'https://b.example']],
    ['allowedOrigins', ',', []],
    ['dataDir', '\tdd\n', 'dd'],
    ['nodeId', 'north\r', 'north'],
    ['databaseUrl', 'sqlite:x.db\n', 'sqlite:x.db'],
    ['redisUrl', '\ufeffredis://r\n', 'redis://r'],
    ['secret', `${'s'.repeat(16)}\r\n`, 's'.repeat(16)],
    ['adminToken', ` ${'t'.repeat(16)}\u00a0`, 't'.repeat(16)],
    ['webhookSecrets', `${'w'.repeat(16)}\n${'v'.repeat(16)}\n`, ['w'.repeat(16), 'v'.repeat(16)]],
  ])('%s: %j', (name, text, value) => {
    expect(read({ [name]: text }, {})).toEqual({ [name]: value });
    expect(read({}, { [variableOf(name)]: text })).toEqual({ [name]: value });
  });

  test.each<[OptionName, string]>([
    ['graceMs', '30sec'],
    ['graceMs', '30 s'],
    ['graceMs', '30S'],
    ['graceMs', 's'],
    ['graceMs', '1m30s'],
    ['graceMs', '0x10'],
    ['graceMs', '1e3'],
    ['graceMs', '1e3s'],
    ['graceMs', 'Infinity'],
    ['graceMs', '1_000'],
    ['graceMs', '5.'],
    ['graceMs', '.5'],
    ['graceMs', '٣'],
    ['graceMs', ' '],
    ['graceMs', '"500"'],
    ['eventsBurst', '30s'],
    ['port', 'NaN'],
    ['demo', 'y'],
    ['demo', '2'],
    ['demo', 'ja'],
    ['secret', '\n'],
    ['allowedOrigins', ' \t'],
  ])('%s: %j is refused with the name of the flag or variable', (name, text) => {
    expectOptionError(() => read({ [name]: text }, {}), flagOf(name));
    expectOptionError(() => read({}, { [variableOf(name)]: text }), variableOf(name));
  });
});

describe('variables that other programs make are passed over', () => {
  const service = (name: string, port: string) => ({
    [`${name}_SERVICE_HOST`]: '10.96.0.12',
    [`${name}_SERVICE_PORT`]: port,
    [`${name}_SERVICE_PORT_HTTP_API`]: port,
    [`${name}_PORT`]: `tcp://10.96.0.12:${port}`,
    [`${name}_PORT_${port}_TCP`]: `tcp://10.96.0.12:${port}`,
    [`${name}_PORT_${port}_TCP_PROTO`]: 'tcp',
    [`${name}_PORT_${port}_TCP_PORT`]: port,
    [`${name}_PORT_${port}_TCP_ADDR`]: '10.96.0.12',
    [`${name}_PORT_3478_UDP`]: 'udp://10.96.0.12:3478',
    [`${name}_PORT_3478_UDP_ADDR`]: '10.96.0.12',
    [`${name}_PORT_38412_SCTP_PROTO`]: 'sctp',
  });

  test.each([
    'SIGNALBOX',
    'SIGNALBOX_REDIS',
    'SIGNALBOX_HOST',
    'SIGNALBOX_PORT',
    'SIGNALBOX_DATABASE_URL',
    'SIGNALBOX_SECRET',
    'SIGNALBOX_1',
    'SIGNALBOX_LOG_LEVEL',
    'SIGNALBOX_CALLS_2',
  ])('of a Service %s in Kubernetes', (name) => {
    expect(read({}, service(name, '3000'))).toEqual({});
    expect(read({}, { ...service(name, '3000'), PORT: '8080' })).toEqual({ port: 8080 });
    expect(readFlags({}, service(name, '3000')).notices).toEqual([]);
  });

  test('of a Service with an IPv6 address, and of one that is not named signalbox', () => {
    const v6 = { SIGNALBOX_SERVICE_HOST: 'fd00::1', SIGNALBOX_PORT: 'tcp://[fd00::1]:3000' };
    expect(read({}, { ...v6, ...service('REDIS', '6379'), ...service('SIGNALBOXES', '1') })).toEqual({});
  });

  test('of a link between containers in Docker', () => {
    const link = {
      SIGNALBOX_NAME: '/web/signalbox',
      SIGNALBOX_ENV_NODE_VERSION: '20.20.2',
      SIGNALBOX_ENV_npm_config_loglevel: '',
      SIGNALBOX_REDIS_1_NAME: '/web_1/redis_1',
      SIGNALBOX_REDIS_1_ENV_REDIS_VERSION: '7.2',
      SIGNALBOX_PORT_8000_TCP_START: 'tcp://172.17.0.2:8000',
      SIGNALBOX_PORT_8000_TCP_PORT_END: '8009',
      ...service('SIGNALBOX', '3000'),
    };
    expect(read({}, link)).toEqual({});
  });

  test('and HOST where it is blank: whoever exports it means no option', () => {
    expect(readFlags({}, { HOST: ' ' }).options).toEqual({});
  });

  test('and HOST where it names the machine or a compiler target, as tcsh and conda export it', () => {
    for (const HOST of [
      hostname(),
      'x86_64-conda-linux-gnu',
      'arm64-apple-darwin20.0.0',
      'x86_64-conda_cos6-linux-gnu',
    ]) {
      const { options, notices } = readFlags({}, { HOST });
      expect(options).toEqual({});
      expect(notices).toEqual([expect.stringContaining('SIGNALBOX_HOST')]);
    }
    // Everything else is the address to listen on, or stops the start: else the server would listen on all addresses.
    for (const HOST of ['backend.internal', 'ip6-localhost', 'tcp://10.0.0.1:80']) {
      expect(readFlags({}, { HOST })).toMatchObject({ options: { host: HOST }, notices: [] });
    }
    for (const HOST of ['0.0.0.0', '::', '::1', '127.0.0.1', 'localhost', 'fe80::1%eth0']) {
      expect(readFlags({}, { HOST })).toMatchObject({ options: { host: HOST }, notices: [] });
    }
    expect(read({}, { HOST: hostname(), SIGNALBOX_HOST: 'signal.internal' })).toEqual({ host: 'signal.internal' });
  });

  test.each([
    ['SIGNALBOX_PORT', '3000/tcp'],
    ['SIGNALBOX_REDIS_PORT', '6379'],
    ['SIGNALBOX_NAME', 'north'],
    ['SIGNALBOX_ENV', 'production'],
    ['SIGNALBOX_SERVICE_PORT', 'http'],
    ['SIGNALBOX_PORT_TCP', 'tcp://10.0.0.1:1'],
  ])('but not %s=%s, which no such program sets', (name, text) => {
    expectOptionError(() => read({}, { [name]: text }), name);
  });
});

test.each([
  ['SIGNALBOX_PROT', 'SIGNALBOX_PORT'],
  ['SIGNALBOX_GRACE', 'SIGNALBOX_GRACE_MS'],
  ['SIGNALBOX_ADMINTOKEN', 'SIGNALBOX_ADMIN_TOKEN'],
  ['SIGNALBOX_ADMIN_TOKEN_FIEL', 'SIGNALBOX_ADMIN_TOKEN_FILE'],
  ['SIGNALBOX_ALLOWED_ORIGIN', 'SIGNALBOX_ALLOWED_ORIGINS'],
  ['SIGNALBOX_graceMs', 'SIGNALBOX_GRACE_MS'],
  ['SIGNALBOX_LOGLEVEL', 'SIGNALBOX_LOG_LEVEL'],
  ['SIGNALBOX_', undefined],
  ['SIGNALBOX___PROTO__', undefined],
  ['SIGNALBOX_COLOUR_OF_THE_SKY', undefined],
])('the unknown variable %s is refused, and the nearest name is %s', (name, nearest) => {
  const message = expectOptionError(() => read({}, { [name]: '1' }), name);
  expect(/did you mean (\w+)\?/.exec(message)?.[1]).toBe(nearest);
});

test('a flag wins over a malformed variable, and only the options of a command are read', () => {
  expect(read({ graceMs: '1s' }, { SIGNALBOX_GRACE_MS: 'soon' })).toEqual({ graceMs: 1000 });
  expect(readFlags({}, { SIGNALBOX_GRACE_MS: 'soon', PORT: '1' }, ['port']).options).toEqual({ port: 1 });
  expectOptionError(() => readFlags({}, { SIGNALBOX_GRACE: '1' }, ['port']), 'SIGNALBOX_GRACE');
});

describe('a secret in a file', () => {
  test('is read without white space at its ends, and may be a list of lines', async () => {
    await using folder = await temporaryFolder();
    const file = await fileIn(folder, 'one', `\ufeff${'s'.repeat(16)}\r\n`);
    const list = await fileIn(folder, 'two', `${'v'.repeat(16)}\n\n${'w'.repeat(16)}\n`);
    const environment = { SIGNALBOX_SECRET_FILE: `${file}\n`, SIGNALBOX_TURN_SECRETS_FILE: list, TURN_SECRET: 'plain' };
    expect(read({}, environment)).toEqual({
      secret: 's'.repeat(16),
      turnSecrets: ['v'.repeat(16), 'w'.repeat(16)],
    });
    expect(readFlags({}, environment).sources.get('secret')).toBe('SIGNALBOX_SECRET_FILE');
    expect(read({ secret: 'flag' }, { SIGNALBOX_SECRET_FILE: '/nowhere' })).toEqual({ secret: 'flag' });
  });

  test.each(NAMES.filter((name) => (OPTIONS[name] as OptionEntry).secret === true))('may be %s', async (name) => {
    await using folder = await temporaryFolder();
    const path = await fileIn(folder, 'secret', 'value\n');
    expect(readFlags({}, { [fileVariableOf(name)]: path }).sources.get(name)).toBe(fileVariableOf(name));
  });

  test('is refused when it is missing, empty, no text, too long, or given twice, without its contents', async () => {
    await using folder = await temporaryFolder();
    const contents = [' \n', Buffer.from([0xff, 0xfe, 0x68]), 'hunter2'.repeat(10_000)];
    const files = await Promise.all(contents.map((content, index) => fileIn(folder, String(index), content)));
    for (const path of [`${folder.path}/missing`, '/dev/zero', folder.path, ...files]) {
      const message = expectOptionError(() => read({}, { SIGNALBOX_SECRET_FILE: path }), 'SIGNALBOX_SECRET_FILE');
      expect(message).not.toContain(path);
      expect(message).not.toContain('hunter2');
    }
    const twice = { SIGNALBOX_SECRET: 'hunter2', SIGNALBOX_SECRET_FILE: files[0] };
    expect(expectOptionError(() => read({}, twice), 'SIGNALBOX_SECRET_FILE')).not.toContain('hunter2');
    expectOptionError(() => read({}, { SIGNALBOX_PORT_FILE: files[0] }), 'SIGNALBOX_PORT_FILE');
  });
});

async function fileIn({ path }: TemporaryFolder, name: string, content: string | Uint8Array): Promise<string> {
  await writeFile(`${path}/${name}`, content);
  return `${path}/${name}`;
}

/** @returns the message of the error. */
function expectOptionError(reading: () => unknown, option: string): string {
  try {
    reading();
  } catch (error) {
    expect(error).toBeInstanceOf(OptionError);
    expect(error).toMatchObject({ option });
    return String(error);
  }
  throw new Error('nothing was thrown');
}
