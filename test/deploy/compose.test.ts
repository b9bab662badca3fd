import { existsSync, readFileSync } from 'node:fs';
import { isIPv4 } from 'node:net';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { readFlags } from '../../src/cli/flags.ts';
import { variableOf } from '../../src/cli/option-spellings.ts';
import { OPTIONS, readOptions } from '../../src/server/options/options.ts';
import { nginxConf } from '../support/nginx.ts';
import { networksOf, readCompose, type Service, variablesOf } from './compose-file.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const text = read('docker-compose.yml');
const compose = readCompose(text);
const defaults = readOptions({});
const nodes = Object.entries(compose.services).filter(([name]) => /^node\d+$/.test(name));

test('a misspelt key is refused', () => {
  expect(() => readCompose(text.replace('depends_on:', 'depend_on:'))).toThrow(/depend_on/);
  expect(() => readCompose(text.replace('PORT: "3000"', 'PORT: 3000'))).toThrow(/PORT/);
});

describe('the nodes', () => {
  test('are three, and differ only in their address and in which one builds the image', () => {
    expect(nodes.map(([name]) => name)).toEqual(['node1', 'node2', 'node3']);
    const [first, ...others] = nodes.map(([, node]) => ({
      ...node,
      networks: undefined,
      build: undefined,
      pull_policy: undefined,
    }));
    for (const other of others) expect(other).toEqual(first);
  });

  test('run one image, built once from the Dockerfile', () => {
    for (const [, node] of nodes) expect(node).toMatchObject({ image: 'signalbox' });
    // Several builds of one image side by side collide; who does not build must not look for it elsewhere.
    const [first, ...others] = nodes.map(([, node]) => node);
    expect(first?.build).toBe('.');
    for (const node of others) expect(node).toMatchObject({ pull_policy: 'never' });
    for (const node of others) expect(node).not.toHaveProperty('build');
  });

  test('have secrets that come from outside and must be set', () => {
    for (const [, { environment }] of nodes) {
      expect(environment['SIGNALBOX_SECRET']).toMatch(/^\$\{SIGNALBOX_SECRET:\?.+\}$/);
      expect(environment['SIGNALBOX_ADMIN_TOKEN']).toMatch(/^\$\{SIGNALBOX_ADMIN_TOKEN:\?.+\}$/);
    }
  });

  test('have more time to stop than a drain takes', () => {
    for (const [, node] of nodes) expect(millisecondsOf(node.stop_grace_period)).toBeGreaterThan(defaults.drainMs);
  });

  test('are given no variable that the server does not read', () => {
    const known = Object.entries(OPTIONS).flatMap(([name, option]) => [
      variableOf(name),
      ...('env' in option ? [option.env] : []),
    ]);
    for (const [, node] of nodes) expect(known).toEqual(expect.arrayContaining(Object.keys(node.environment)));
  });

  test('read .env, where an empty value counts as not set', () => {
    const secrets = { SIGNALBOX_SECRET: 's'.repeat(32), SIGNALBOX_ADMIN_TOKEN: 't'.repeat(32) };
    const turn = {
      SIGNALBOX_TURN_URLS: 'turn:turn.example.org',
      SIGNALBOX_TURN_SECRETS: `${'n'.repeat(32)},${'o'.repeat(32)}`,
    };
    for (const [, { environment }] of nodes) {
      const read = (dotEnv: Record<string, string>) =>
        readOptions(readFlags({}, filledIn(environment, dotEnv)).options);
      expect(read(secrets)).toMatchObject({ turnUrls: [], turnSecrets: [], stunUrls: [], allowedOrigins: [] });
      expect(read({ ...secrets, ...turn })).toMatchObject({
        turnUrls: ['turn:turn.example.org'],
        turnSecrets: ['n'.repeat(32), 'o'.repeat(32)],
      });
    }
  });

  test('find Redis by its name, and start when it is healthy', () => {
    for (const [, node] of nodes) {
      expect(node.environment['REDIS_URL']).toBe('redis://redis:6379');
      expect(node.depends_on).toHaveProperty('redis');
      expect(Object.keys(networksOf(node))).toEqual(expect.arrayContaining(Object.keys(networksOf(service('redis')))));
    }
  });
});

describe('redis', () => {
  test('refuses writes instead of evicting keys', () => {
    expect(service('redis').command).toContain('--maxmemory-policy noeviction');
  });

  test('is new enough for sharded pub/sub', () => {
    expect(Number(/^redis:(\d+)/.exec(service('redis').image)?.[1])).toBeGreaterThanOrEqual(7);
  });

  test('is reachable by the nodes only', () => {
    const [own = ''] = Object.keys(networksOf(service('redis')));
    const neighbours = Object.entries(compose.services).filter(([, other]) => own in networksOf(other));
    expect(neighbours.map(([name]) => name)).toEqual(['redis', ...nodes.map(([name]) => name)]);
    expect(compose.networks[own]).toMatchObject({ internal: true });
  });
});

describe('nginx', () => {
  test('mounts the file that the tests run', () => {
    const mount = service('nginx').volumes.find((volume) => volume.includes(':/etc/nginx/nginx.conf:'));
    expect(resolve(root, mount?.split(':')[0] ?? '')).toBe(nginxConf);
  });

  test('finds the files that it includes', () => {
    expect(service('nginx').volumes).toContain('./deploy/nginx:/etc/nginx/signalbox:ro');
    const included = [...read('deploy/nginx.conf').matchAll(/^\s*include (.*);$/gm)].map(([, path = '']) => path);
    expect(included).not.toEqual([]);
    for (const path of included)
      expect(existsSync(resolve(root, path.replace('signalbox/', 'deploy/nginx/')))).toBe(true);
  });

  test('passes to every node, where it listens', () => {
    const servers = [...read('deploy/nginx/servers.conf').matchAll(/^server (\S+) /gm)].map(([, server]) => server);
    expect(servers).toEqual(nodes.map(([name, { environment }]) => `${name}:${environment['PORT']}`));
    expect(Object.keys(service('nginx').depends_on)).toEqual(nodes.map(([name]) => name));
  });

  test('listens on its published port, the only one that is published', () => {
    const listens = /^listen (\d+);$/m.exec(read('deploy/nginx/listen.conf'))?.[1];
    expect(service('nginx').ports.map((port) => port.split(':').at(-1))).toEqual([listens]);
    expect(service('nginx').healthcheck?.test.at(-1)).toBe(`http://127.0.0.1:${listens}/healthz`);
    const published = Object.entries(compose.services).filter(([, { ports }]) => ports.length > 0);
    expect(published.map(([name]) => name)).toEqual(['nginx']);
  });

  test('keeps a silent connection for much longer than the ping interval of the nodes', () => {
    const timeouts = [...read('deploy/nginx.conf').matchAll(/^\s*proxy_(?:read|send)_timeout (\w+);$/gm)];
    expect(timeouts).toHaveLength(2);
    const silence = defaults.pingIntervalMs + defaults.pingTimeoutMs;
    for (const [, timeout] of timeouts) expect(millisecondsOf(timeout)).toBeGreaterThan(4 * silence);
  });

  test('is the only proxy that the nodes trust', () => {
    const address = networksOf(service('nginx'))['front']?.ipv4_address ?? '';
    expect(isIPv4(address)).toBe(true);
    for (const [, { environment }] of nodes) expect(environment['SIGNALBOX_TRUSTED_PROXIES']).toBe(address);
  });
});

test('fixed addresses are distinct, in their network, and outside of the dynamic range', () => {
  const [range] = compose.networks['front']?.ipam?.config ?? [];
  const fixed = [service('nginx'), ...nodes.map(([, node]) => node)].map(
    (one) => networksOf(one)['front']?.ipv4_address ?? '',
  );
  expect(new Set(fixed).size).toBe(fixed.length);
  for (const address of fixed) {
    expect(isInside(address, range?.subnet ?? '')).toBe(true);
    expect(isInside(address, range?.ip_range ?? '')).toBe(false);
  }
});

test('the TURN server is off unless its profile is enabled', () => {
  const profiled = Object.entries(compose.services).filter(([, { profiles }]) => profiles !== undefined);
  expect(profiled.map(([name, { profiles }]) => [name, profiles])).toEqual([['coturn', ['turn']]]);
});

test('the TURN server has the secrets that the nodes sign with', () => {
  for (const name of ['coturn', ...nodes.map(([node]) => node)])
    expect(service(name).environment['SIGNALBOX_TURN_SECRETS'], name).toMatch(/^\$\{SIGNALBOX_TURN_SECRETS:-\}$/);
});

test('every file and folder that is mounted exists', () => {
  const mounted = Object.values(compose.services).flatMap(({ volumes }) =>
    volumes.map((one) => one.split(':')[0] ?? ''),
  );
  for (const source of mounted.filter((path) => path.startsWith('.'))) {
    expect(existsSync(resolve(root, source)), source).toBe(true);
  }
  const named = mounted.filter((path) => !path.startsWith('.'));
  expect(named).toEqual(Object.keys(compose.volumes));
});

test('the file holds no secret, and .env.example names all variables', () => {
  for (const { environment } of Object.values(compose.services)) {
    for (const [name, value] of Object.entries(environment)) {
      if (/SECRET|TOKEN|PASSWORD/.test(name)) expect(value, name).toMatch(/^\$\{[A-Z_]+(:\?[^}]+|:-)\}$/);
    }
  }
  const example = read('.env.example');
  const offered = [...example.matchAll(/^(?:# )?([A-Z_]+)=(.*)$/gm)];
  const used = variablesOf(text.replaceAll(/^\s*#.*$/gm, '')).map(({ name }) => name);
  expect(new Set(offered.map(([, name]) => name))).toEqual(new Set(used));
  for (const [, name = '', value] of offered) if (/SECRET|TOKEN/.test(name)) expect(value, name).toBe('');
});

/** As compose fills it in from .env. */
function filledIn(environment: Record<string, string>, dotEnv: Record<string, string>): Record<string, string> {
  const fill = (value: string) => value.replaceAll(/\$\{([A-Z_]+)[^}]*\}/g, (_, name: string) => dotEnv[name] ?? '');
  return Object.fromEntries(Object.entries(environment).map(([name, value]) => [name, fill(value)]));
}

function service(name: string): Service {
  const found = compose.services[name];
  if (found === undefined) throw new Error(`docker-compose.yml has no service ${name}`);
  return found;
}

function read(path: string): string {
  return readFileSync(resolve(root, path), 'utf8');
}

function millisecondsOf(duration: string | undefined): number {
  return 1_000 * Number(/^(\d+)s$/.exec(duration ?? '')?.[1]);
}

function isInside(address: string, network: string): boolean {
  const [base = '', bits] = network.split('/');
  const size = 2 ** (32 - Number(bits));
  return Math.floor(numberOf(address) / size) === Math.floor(numberOf(base) / size);
}

function numberOf(address: string): number {
  return address.split('.').reduce((sum, part) => sum * 256 + Number(part), 0);
}
