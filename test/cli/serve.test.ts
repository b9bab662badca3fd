/** `signalbox serve`: help, errors and the lines at the start. */
import { describe, expect, test } from 'vitest';
import { flagOf, variableOf } from '../../src/cli/option-spellings.ts';
import { OPTIONS, type OptionEntry, type OptionName, readOptions } from '../../src/server/options/options.ts';
import { freePort, temporaryFolder } from '../support/process.ts';
import { startRedis } from '../support/redis.ts';
import { type Ended, runSignalbox, startSignalbox } from '../support/signalbox.ts';

const NAMES = Object.keys(OPTIONS) as OptionName[]; // the table's own keys
const LOCAL = ['--host', '127.0.0.1', '--port', '0'];

/** Expects one line on stderr, with the prefix of the program and without a stack. @returns the line. */
function expectOneLine({ stderr, stdout }: Ended): string {
  expect(stdout).toBe('');
  expect(stderr).toMatch(/^signalbox: .+\n$/);
  expect(stderr).not.toMatch(/\n.+|^\s*at /m);
  return stderr;
}

describe('--help', () => {
  test('lists every option with its meaning, its default and its variable', async () => {
    const { code, stdout } = await runSignalbox(['serve', '--help']);
    expect(code).toBe(0);
    const text = stdout.replaceAll(/\s+/g, ' ');
    const defaults = readOptions({});
    for (const name of NAMES) {
      const { help }: OptionEntry = OPTIONS[name];
      const value = defaults[name];
      const shown =
        value === undefined || (Array.isArray(value) && value.length === 0) ? '(' : `(default ${String(value)}; `;
      expect(text).toContain(` ${flagOf(name)} `);
      expect(text).toContain(`${help} ${shown}${variableOf(name)}`);
    }
    for (const plain of ['PORT', 'HOST', 'REDIS_URL']) expect(text).toContain(` or ${plain})`);
    expect(text).toContain('SIGNALBOX_LOG_LEVEL');
  });

  test('of the program lists its commands, and --version prints the version of the package', async () => {
    const [help, version] = await Promise.all([runSignalbox(['--help']), runSignalbox(['--version'])]);
    expect(help).toMatchObject({ code: 0, stderr: '' });
    for (const command of ['serve', 'pool']) expect(help.stdout).toContain(`  ${command} `);
    expect(version).toMatchObject({ code: 0, stdout: expect.stringMatching(/^\d+\.\d+\.\d+\n$/) });
  });
});

describe('invalid arguments: one line, exit code 2', () => {
  test.each<[string, string[], Record<string, string>, RegExp]>([
    ['an unknown flag', ['--prot', '3000'], {}, /unknown option '--prot' .*--port/],
    ['an unknown variable', [], { SIGNALBOX_GRACE: '1' }, /SIGNALBOX_GRACE: no such option/],
    ['a word for a duration', ['--grace-ms', 'soon'], {}, /--grace-ms: not a duration: .*30s/],
    ['letters for a number', [], { SIGNALBOX_STRIKES: '10s' }, /SIGNALBOX_STRIKES: not a number/],
    [
      'a value out of range in a variable',
      [],
      { SIGNALBOX_STRIKES: '0' },
      /strikes: .*\(from the variable SIGNALBOX_S/,
    ],
    ['an unknown flag whose value is a secret', ['--secrt=hunter2'], {}, /unknown option '--secrt'/],
    ['a flag without its value', ['--port'], {}, /--port.* argument missing/],
    [
      'a word for true or false',
      ['--webhook-allow-private', 'perhaps'],
      {},
      /--webhook-allow-private: neither true nor false/,
    ],
    ['an unknown flag after a flag without a value', ['--demo', '--prot', '1'], {}, /unknown option '--prot'/],
    ['a path with an invisible character', ['--data-dir', 'd\u0001d'], {}, /dataDir: .*U\+0001.* \(from --data-dir\)/],
    ['an unexpected argument', ['now'], {}, /too many arguments/],
    ['a number out of range', ['--port', '70000'], {}, /port: .*65535 \(from --port\)/],
    ['an unknown log level', [], { SIGNALBOX_LOG_LEVEL: 'loud' }, /LOG_LEVEL.*debug, info, warn, error, silent/],
    [
      'a proxy that is not a network',
      ['--trusted-proxies', '10.0.0.0/8,10.0.0.0/99'],
      {},
      /trustedProxies: "10\.0\.0\.0\/99"/,
    ],
  ])('%s', async (_, args, env, says) => {
    const ended = await runSignalbox(['serve', ...LOCAL, ...args], env);
    expect(ended.code).toBe(2);
    expect(expectOneLine(ended)).toMatch(says);
  });

  test('an unknown command', async () => {
    const ended = await runSignalbox(['server']);
    expect(ended.code).toBe(2);
    expect(expectOneLine(ended)).toMatch(/unknown command 'server'/);
  });

  test('a secret that is too short is not repeated', async () => {
    const ended = await runSignalbox(['serve', ...LOCAL, '--secret', 'hunter2']);
    expect(ended.code).toBe(2);
    expect(expectOneLine(ended)).toMatch(/secret: /);
    expect(ended.stderr).not.toContain('hunter2');
  });

  test('a list with a secret that is too short is not repeated', async () => {
    const secrets = `${'long enough'.repeat(2)},hunter2`;
    const ended = await runSignalbox(['serve', ...LOCAL, '--turn-urls', 'turn:turn.example.org'], {
      TURN_SECRET: secrets,
    });
    expect(ended.code).toBe(2);
    expect(expectOneLine(ended)).toMatch(/turnSecrets: /);
    expect(ended.stderr).not.toMatch(/hunter2|long enough/);
  });
});

describe.concurrent('a failed start: one line, exit code 1', () => {
  test('a port in use', async () => {
    await using first = await startSignalbox();
    const ended = await runSignalbox([
      'serve',
      '--host',
      '127.0.0.1',
      '--port',
      String(first.port),
      '--log-level',
      'error',
    ]);
    expect(ended.code).toBe(1);
    expect(expectOneLine(ended)).toMatch(new RegExp(`127\\.0\\.0\\.1:${first.port}`));
  });

  test('an unreachable Redis is named without its credentials', async () => {
    const port = await freePort();
    const url = `redis://operator:hunter2@127.0.0.1:${port}`;
    const ended = await runSignalbox(['serve', ...LOCAL, '--redis-url', url, '--log-level', 'error']);
    expect(ended.code).toBe(1);
    expect(expectOneLine(ended)).toContain(`Redis at 127.0.0.1:${port} did not answer`);
    expect(ended.stderr).not.toMatch(/hunter2|operator/);
  });

  test('an unreachable database is named with the reason and without its credentials', async () => {
    const port = await freePort();
    const url = `postgres://operator:hunter2@127.0.0.1:${port}/calls`;
    const ended = await runSignalbox(['serve', ...LOCAL, '--database-url', url, '--log-level', 'error']);
    expect(ended.code).toBe(1);
    expect(expectOneLine(ended)).toContain(`(postgres at 127.0.0.1:${port}/calls: connect ECONNREFUSED`);
    expect(ended.stderr).not.toMatch(/hunter2|operator/);
  });

  test('a data directory of another node', async () => {
    await using folder = await temporaryFolder();
    await using _first = await startSignalbox({ dataDir: folder.path });
    const ended = await runSignalbox(['serve', ...LOCAL, '--data-dir', folder.path, '--log-level', 'error']);
    expect(ended.code).toBe(1);
    expect(expectOneLine(ended)).toContain(`${folder.path} is in use by another node`);
  });

  test.each(['redis://:hunter2@:::', 'http://:hunter2@127.0.0.1'])('an invalid Redis URL: %s', async (url) => {
    const ended = await runSignalbox(['serve', ...LOCAL, '--redis-url', url, '--log-level', 'error']);
    expect(ended.code).not.toBe(0);
    expect(expectOneLine(ended)).toMatch(/URL of Redis/);
    expect(ended.stderr).not.toContain('hunter2');
  });
});

describe('a running server', () => {
  test('prints one block with its address, node and figures, logs JSON, and exits with 0 on SIGTERM', async () => {
    await using redis = await startRedis();
    await using first = await startSignalbox({ redisUrl: redis.url, nodeId: 'north' });
    await using second = await startSignalbox({ redisUrl: redis.url, nodeId: 'south' });
    const block = second.child.lines.filter((line) => /^ {2}\S/.test(line));
    expect(block).toEqual([
      '  Signalbox is listening',
      `  address     ${second.url}`,
      '  node        south',
      `  engine      redis at 127.0.0.1:${redis.port}`,
      '  references  random',
      '  calls       not recorded',
      '  api         /v1, no token is set, documentation at /docs',
      '  nodes seen  2 (north, south)',
      '  codes       900,000 free, 0 occupied, 0 cooling of 900,000',
    ]);
    for (const { child } of [first, second]) {
      expect(await child.stop()).toEqual({ code: 0, signal: null });
      const others = child.lines.filter((line) => line !== '' && !/^ {2}\S/.test(line));
      expect(others.length).toBeGreaterThan(0);
      for (const line of others)
        expect(JSON.parse(line)).toMatchObject({ level: expect.any(Number), msg: expect.any(String) });
    }
  });

  test('prints where calls are recorded, the tokens of the API and the number of webhook endpoints', async () => {
    await using folder = await temporaryFolder();
    const adminTokens = [`shop=write:${'t'.repeat(16)}`];
    const webhookUrls = ['http://127.0.0.1:9/one', 'http://127.0.0.1:9/two'];
    const webhooks = { webhookUrls, webhookSecrets: ['s'.repeat(16)], webhookAllowPrivate: true };
    await using server = await startSignalbox({ dataDir: folder.path, adminTokens, apiDocs: false, ...webhooks });
    const { lines } = server.child;
    expect(lines).toContain(`  calls       recorded, in sqlite at ${folder.path}/signalbox.db`);
    expect(lines).toContain('  webhooks    2 endpoints');
    expect(lines).toContain('  api         /v1 for 1 token');
  });

  test('reads options from flags, then SIGNALBOX_ variables, then plain variables', async () => {
    await using server = await startSignalbox({}, { SIGNALBOX_NODE_ID: 'from-env', PORT: '1', SIGNALBOX_PORT: '2' });
    expect(server.child.lines).toContain('  node        from-env');
    expect((await fetch(`${server.url}/healthz`)).status).toBe(200);
  });
});
