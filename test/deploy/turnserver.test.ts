/** deploy/turnserver.conf, run by a real turnserver: a relay that members can use, and no way into a private network. */
import { execFileSync } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { BlockList, isIPv4 } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { type Coturn, startCoturn } from '../support/coturn.ts';
import { temporaryFolder } from '../support/process.ts';
import { connectThroughRelay, hasRelay, reachFor } from '../support/relay-only-peers.ts';
import { readCompose } from './compose-file.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const conf = join(root, 'deploy/turnserver.conf');
const text = readFileSync(conf, 'utf8');
const compose = readFileSync(join(root, 'docker-compose.yml'), 'utf8');

const NEW = 'd1ff3r3nt-every-time==';
const OLD = 'd1ff3r3nt-from-that-one+/';

/** The first and the last address of everything that a relay has no business with. */
const DENIED = [
  ['0.0.0.0', '0.255.255.255'],
  ['10.0.0.0', '10.255.255.255'],
  ['100.64.0.0', '100.127.255.255'],
  ['127.0.0.0', '127.255.255.255'],
  ['169.254.0.0', '169.254.255.255'],
  ['172.16.0.0', '172.31.255.255'],
  ['192.0.0.0', '192.0.0.255'],
  ['192.0.2.0', '192.0.2.255'],
  ['192.88.99.0', '192.88.99.255'],
  ['192.168.0.0', '192.168.255.255'],
  ['198.18.0.0', '198.19.255.255'],
  ['198.51.100.0', '198.51.100.255'],
  ['203.0.113.0', '203.0.113.255'],
  ['224.0.0.0', '239.255.255.255'],
  ['240.0.0.0', '255.255.255.255'],
  ['::1', '::ffff:ffff'],
  ['::ffff:0:0', '::ffff:ffff:ffff'],
  ['64:ff9b::', '64:ff9b::ffff:ffff'],
  ['64:ff9b:1::', '64:ff9b:1:ffff:ffff:ffff:ffff:ffff'],
  ['100::', '100::ffff:ffff:ffff:ffff'],
  ['2001::', '2001:0:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['2001:db8::', '2001:db8:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['2002::', '2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['fc00::', 'fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['fe80::', 'febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['fec0::', 'feff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['ff00::', 'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
] as const;

/** Neighbours of those, where people are. */
const PUBLIC_V4 = [
  '1.0.0.0',
  '9.255.255.255',
  '11.0.0.0',
  '100.63.255.255',
  '172.32.0.0',
  '192.0.1.0',
  '223.255.255.255',
];
const PUBLIC_V6 = ['2001:1::', '2001:db7:ffff::', '2001:db9::', '2003::', '2600::', '2a00::', '64:ff9b:2::'];

test('coturn understands every setting of the file', async () => {
  await using coturn = await startCoturn({ secrets: [NEW], conf });
  expect(complaintsOf(coturn)).toEqual([]);
});

test('a setting that coturn does not understand would be noticed', async () => {
  await using folder = await temporaryFolder();
  const wrong = join(folder.path, 'turnserver.conf');
  await writeFile(wrong, `${text}\ndenied-peer=10.0.0.1\n`);
  await using coturn = await startCoturn({ secrets: [NEW], conf: wrong });
  expect(complaintsOf(coturn)).toContainEqual(expect.stringContaining('denied-peer'));
});

test.each(['udp', 'tcp'] as const)(
  'a good credential gives a relay over %s, but none to this machine',
  async (transport) => {
    await using coturn = await startCoturn({ secrets: [NEW], conf, args: ['--verbose'] });
    const servers = [{ urls: [coturn.url(transport)], ...credential(NEW) }];
    const refused = coturn.line(/CREATE_PERMISSION processed, error 403: Forbidden IP/);
    expect(await connectThroughRelay(servers, servers, refused)).toEqual({ outcome: 'refused', errors: [] });
    using _peer = await reachFor(servers, ['127.0.0.1', '127.1.2.3', '1.0.0.0']);
    await coturn.line(/peer 1\.0\.0\.0 lifetime updated/);
    expect(coturn.lines.filter((line) => /peer 127\.\S+ lifetime updated/.test(line))).toEqual([]);
  },
);

test('the relay reaches the Internet, and no network that the Internet does not reach', async () => {
  await using coturn = await startCoturn({ secrets: [NEW], conf, args: ['--verbose'] });
  const servers = [{ urls: [coturn.url('udp')], ...credential(NEW) }];
  // A browser does not even ask for an address of nobody.
  const denied = DENIED.flat().filter((address) => isIPv4(address) && address !== '0.0.0.0');
  using _peer = await reachFor(servers, [...denied, ...PUBLIC_V4]);
  // They are asked for one after the other: the last of them tells that all have been answered.
  await Promise.all(PUBLIC_V4.map((address) => coturn.line(new RegExp(`peer ${address} lifetime updated`))));
  for (const address of denied)
    expect(
      coturn.lines.some((line) => line.includes(`peer ${address} lifetime updated`)),
      address,
    ).toBe(false);
  const refusals = coturn.lines.filter((line) => line.includes('CREATE_PERMISSION processed, error 403'));
  expect(refusals.length).toBeGreaterThanOrEqual(denied.length);
});

test('the refused networks are exactly those, in IPv6 too', () => {
  const ranges = [...text.matchAll(/^denied-peer-ip=(.+)-(.+)$/gm)].map(
    ([, first = '', last = '']) => [first, last] as const,
  );
  expect(ranges).toHaveLength(DENIED.length);
  expect(new Set(ranges.map(String))).toEqual(new Set(DENIED.map(String)));
  // One for each family: this one takes IPv4 for a part of IPv6, and coturn does not.
  const lists = { ipv4: new BlockList(), ipv6: new BlockList() };
  for (const [first, last] of ranges) lists[familyOf(first)].addRange(first, last, familyOf(first));
  for (const address of [...PUBLIC_V4, ...PUBLIC_V6])
    expect(lists[familyOf(address)].check(address, familyOf(address)), address).toBe(false);
  // coturn takes a range from there for one without a beginning, and with it all of IPv4.
  expect(ranges.map(([first]) => first)).not.toContain('::');
});

test('credentials signed by the nodes of docker-compose.yml are accepted by its TURN server', async () => {
  await using folder = await temporaryFolder();
  const written = composed(folder.path, `${NEW},${OLD}`);
  // Nobody else on the machine can read it.
  expect(statSync(written).mode & 0o777).toBe(0o600);
  await using coturn = await startCoturn({ secrets: [], conf: written });
  expect(complaintsOf(coturn)).toEqual([]);
  const good = [NEW, OLD, 'the secret of someone else'].map((secret) =>
    hasRelay([{ urls: [coturn.url('udp')], ...credential(secret) }]),
  );
  expect(await Promise.all(good)).toEqual([true, true, false]);
});

test('the TURN server of docker-compose.yml does not start without a secret, and says so', async () => {
  await using folder = await temporaryFolder();
  expect(() => composed(folder.path, '')).toThrow('set SIGNALBOX_TURN_SECRETS in .env');
});

test('the file holds no secret, and no exception that tests need', () => {
  expect(text).not.toMatch(/^\s*static-auth-secret/m);
  for (const deployed of [text, compose]) expect(deployed).not.toMatch(/allow-loopback-peers|no-auth\b|server-relay/);
});

const complaintsOf = ({ lines }: Coturn): string[] =>
  lines.filter((line) => /bad configuration|unknown|wrong|error|warning|cannot/i.test(line));

const familyOf = (address: string) => (isIPv4(address) ? 'ipv4' : 'ipv6');

function credential(secret: string): { username: string; credential: string } {
  const username = `${Math.floor(Date.now() / 1000) + 3600}:ann`;
  return { username, credential: createHmac('sha1', secret).update(username).digest('base64') };
}

/** Runs what the container runs, but for the turnserver itself, and gives the file that it would be started with. */
function composed(folder: string, secrets: string): string {
  const { entrypoint = [], volumes } = readCompose(compose).services['coturn'] ?? expect.unreachable();
  expect(volumes).toEqual(['./deploy/turnserver.conf:/etc/coturn/turnserver.conf:ro']);
  const [shell = '', flags = '', script = ''] = entrypoint;
  const written = join(folder, 'turnserver.conf');
  const here = script
    .replaceAll('$$', '$')
    .replaceAll('/etc/coturn/turnserver.conf', conf)
    .replaceAll('/tmp/turnserver.conf', written)
    .replace(`exec turnserver -c ${written}`, 'echo it would start');
  const env = { ...process.env, SIGNALBOX_TURN_SECRETS: secrets };
  expect(execFileSync(shell, [flags, here], { env, encoding: 'utf8', stdio: 'pipe' })).toBe('it would start\n');
  return written;
}
