/** Public and private addresses: the first and last address of every range, because one forgotten range is a hole. */
import type { LookupAddress } from 'node:dns';
import { isIP } from 'node:net';
import { describe, expect, test } from 'vitest';
import { createPublicLookup, isPublicAddress, literalAddress, type Resolve } from '../../src/webhooks/addresses.ts';
import { endpointProblem } from '../../src/webhooks/endpoint.ts';

const PRIVATE = {
  'this network': ['0.0.0.0', '0.255.255.255'],
  private: ['10.0.0.0', '10.255.255.255', '172.16.0.0', '172.31.255.255', '192.168.0.0', '192.168.255.255'],
  'carrier-grade NAT': ['100.64.0.0', '100.127.255.255'],
  loopback: ['127.0.0.1', '127.255.255.255', '::1', '::'],
  'link-local, metadata services': [
    '169.254.0.0',
    '169.254.169.254',
    '169.254.255.255',
    'fe80::1',
    'fe80::1%eth0',
    'febf::1',
  ],
  'protocols and documentation': ['192.0.0.8', '192.0.2.1', '198.51.100.255', '203.0.113.7', '2001:db8::1', '3fff::1'],
  benchmarks: ['198.18.0.0', '198.19.255.255', '2001:2::1'],
  'multicast, reserved, broadcast': ['224.0.0.1', '239.255.255.255', '240.0.0.1', '255.255.255.255', 'ff02::1'],
  'relays of 6to4, 6to4, Teredo, ORCHID': [
    '192.88.99.1',
    '2002:7f00:1::',
    '2002:0808:0808::1',
    '2001::1',
    '2001:20::1',
  ],
  'unique local and site-local': ['fc00::1', 'fd12:3456::1', 'fec0::1', 'fd00:ec2::254'],
  'IPv4 inside IPv6': ['::ffff:127.0.0.1', '::ffff:8.8.8.8', '::ffff:a00:1', '::127.0.0.1', '::ffff:0:127.0.0.1'],
  'NAT64 of private addresses': ['64:ff9b::127.0.0.1', '64:ff9b::a9fe:a9fe', '64:ff9b::10.1.2.3', '64:ff9b:1::1'],
  'discard-only, segments': ['100::1', '5f00::1'],
  'not an address': ['', 'localhost', '127.1', '0x7f.0.0.1', '1.2.3', '[::1]', '8.8.8.8 '],
};
const PUBLIC = [
  ['1.0.0.1', '9.255.255.255', '11.0.0.0', '100.63.255.255', '100.128.0.0', '126.255.255.255', '128.0.0.1'],
  ['169.253.255.255', '169.255.0.0', '172.15.255.255', '172.32.0.0', '192.0.1.0', '192.167.255.255', '192.169.0.0'],
  ['198.17.255.255', '198.20.0.0', '223.255.255.255', '2001:4860:4860::8888', '2606:4700::1111', '2a00:1450::1'],
  ['2001:200::1', '3ffe:ffff::1', '64:ff9b::8.8.8.8', '2003::1'],
].flat();

describe.each(Object.entries(PRIVATE))('%s', (_name, addresses) => {
  test.each(addresses)('%s is private', (address) => expect(isPublicAddress(address)).toBe(false));
});

test.each(PUBLIC)('%s is public', (address) => expect(isPublicAddress(address)).toBe(true));

describe('a URL with a literal address', () => {
  test.each([
    'https://127.0.0.1/',
    'https://127.1/',
    'https://2130706433/',
    'https://0x7f000001/',
    'https://0177.0.0.1/',
    'https://0/',
    'https://0xa9fea9fe/latest',
    'https://169.254.43518/',
    'https://[::1]/',
    'https://[::ffff:127.0.0.1]/',
    'https://[::ffff:7f00:1]:8443/',
    'https://[64:ff9b::7f00:1]/',
    'https://user:password@10.0.0.1/',
    'https://１２７.0.0.1/',
    'https://127。0。0。1/',
  ])('%s is private, in any notation', (url) => {
    expect(literalAddress(new URL(url))).toBeDefined();
    expect(endpointProblem(url, false)).toContain('private address');
    expect(endpointProblem(url, false)).not.toContain('password');
    expect(endpointProblem(url, true)).toBeUndefined();
  });

  test('URLs that are accepted, and URLs that are refused for another reason', () => {
    expect(endpointProblem('https://example.org/hooks', false)).toBeUndefined();
    expect(endpointProblem('https://8.8.8.8/hooks', false)).toBeUndefined();
    expect(endpointProblem('https://[2606:4700::1111]/', false)).toBeUndefined();
    expect(endpointProblem('http://example.org/hooks', false)).toContain('https://');
    expect(endpointProblem('http://example.org/hooks', true)).toBeUndefined();
    for (const url of ['', 'example.org', 'ftp://example.org/', 'file:///etc/passwd', 'https://'])
      expect(endpointProblem(url, true)).toContain('must');
  });
});

describe('a host name is checked by the addresses that the connection is made to', () => {
  const resolvesTo =
    (...addresses: string[]): Resolve =>
    (_name, _options, callback) =>
      callback(
        null,
        addresses.map((address): LookupAddress => ({ address, family: isIP(address) })),
      );
  const ask = (resolve: Resolve, all: boolean) =>
    new Promise<unknown>((done) => {
      createPublicLookup(resolve)('example.org', { all }, (error, address, family) => {
        done(error ? error.message : all ? address : [address, family]);
      });
    });

  test('private addresses are left out', async () => {
    const mixed = resolvesTo('10.0.0.1', '2606:4700::1111', '::1', '8.8.8.8');
    expect(await ask(mixed, false)).toEqual(['2606:4700::1111', 6]);
    expect(await ask(mixed, true)).toEqual([
      { address: '2606:4700::1111', family: 6 },
      { address: '8.8.8.8', family: 4 },
    ]);
  });

  test.each([[true], [false]])(
    'a name with private addresses only, or with none, is refused (all: %s)',
    async (all) => {
      expect(await ask(resolvesTo('127.0.0.1', '::1'), all)).toBe('the address is not a public one');
      expect(await ask(resolvesTo(), all)).toBe('the address is not a public one');
      const fails: Resolve = (_name, _options, callback) => callback(new Error('ENOTFOUND'), []);
      expect(await ask(fails, all)).toBe('ENOTFOUND');
    },
  );
});
