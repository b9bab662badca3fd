/** The address of a client: the remote end of its socket, or the header of a trusted proxy. */
import { describe, expect, test } from 'vitest';
import { createClientAddress } from '../../../src/server/limits/client-address.ts';
import { OptionError, readOptions } from '../../../src/server/options/options.ts';
import { readAddress, readListenHost, readNetwork } from '../../../src/support/ip-address.ts';

const addressOf = (remoteAddress: string | undefined, forwarded?: string | string[], trusted: string[] = []) =>
  createClientAddress(readOptions({ trustedProxies: trusted }).trustedProxies)({
    // The function reads only the remote address of the socket.
    socket: { remoteAddress } as never,
    // Node joins repeated headers of this name; its types allow both forms.
    headers: forwarded === undefined ? {} : { 'x-forwarded-for': forwarded as string },
  });

describe('without trusted proxies', () => {
  test.each([
    ['IPv4 is unchanged', '192.0.2.1', '192.0.2.1'],
    ['IPv4 over an IPv6 socket', '::ffff:192.0.2.1', '192.0.2.1'],
    ['the same in capitals', '::FFFF:192.0.2.1', '192.0.2.1'],
    ['the same in hex', '::ffff:c000:201', '192.0.2.1'],
    ['the same in full', '0:0:0:0:0:FFFF:192.0.2.1', '192.0.2.1'],
    ['the same with all zeros', '0000:0000:0000:0000:0000:ffff:c000:0201', '192.0.2.1'],
    ['the same with a gap elsewhere', '0::ffff:c000:201', '192.0.2.1'],
    ['the same with a zone', '::ffff:192.0.2.1%eth0', '192.0.2.1'],
    ['IPv4 behind NAT64', '64:ff9b::c000:201', '192.0.2.1'],
    ['IPv4 behind NAT64, dotted', '64:FF9B::192.0.2.1', '192.0.2.1'],
    ['IPv4 behind NAT64, in full', '0064:ff9b:0:0:0:0:c000:201', '192.0.2.1'],
    ['IPv4 behind NAT64 of a local prefix', '64:ff9b:1::c000:201', '192.0.2.1'],
    ['IPv4 behind a stateless translator', '::ffff:0:192.0.2.1', '192.0.2.1'],
    ['IPv4 in the deprecated form', '::c000:201', '192.0.2.1'],
    ['6to4, whose site has one IPv4 address', '2002:c000:201:1234::1', '192.0.2.1'],
    ['a neighbour of the NAT64 prefix', '64:ff9b:2::c000:201', '64:ff9b:2:0'],
    ['IPv6 that ends like a mapped address', '2001:db8::ffff:192.0.2.1', '2001:db8:0:0'],
    ['IPv6 by its /64', '2001:db8:1:2:3:4:5:6', '2001:db8:1:2'],
    ['another of that /64', '2001:db8:1:2::9', '2001:db8:1:2'],
    ['leading zeros', '2001:0db8:0001:0002:0000:0000:0000:0009', '2001:db8:1:2'],
    ['a gap within the /64', '2001:db8::9', '2001:db8:0:0'],
    ['a gap at the start', '::1', '0:0:0:0'],
    ['the unspecified address', '::', '0:0:0:0'],
    ['a gap at the end', 'fe80::', 'fe80:0:0:0'],
    ['a gap of one group', '2001:db8:1:2:3:4:5::', '2001:db8:1:2'],
    ['capitals', '2001:DB8:A:B::1', '2001:db8:a:b'],
    ['a zone', 'fe80::1%eth0', 'fe80:0:0:0'],
    ['a connection that is gone', undefined, ''],
  ])('%s', (_, remote, expected) => {
    expect(addressOf(remote)).toBe(expected);
    expect(addressOf(remote, '203.0.113.9')).toBe(expected);
  });
});

test('the prefix of a translator is no network of proxies, and its addresses are those of IPv4', () => {
  for (const all of ['64:ff9b::/96', '::ffff:0:0/96', '64:ff9b:1:2::/96']) {
    expect(readNetwork(all)).toHaveProperty('problem');
  }
  expect(readNetwork('0.0.0.0/0')).toEqual({ value: '0.0.0.0/0' });
  expect(readNetwork('::ffff:10.0.0.0/104')).toEqual({ value: '10.0.0.0/8' });
  expect(readAddress('64:ff9b:1:abcd::cb00:7105')).toBe('203.0.113.5');
  expect(readListenHost('::0.0.0.0')).toEqual({ value: '::' });
  expect(readListenHost('::ffff:0.0.0.0')).toEqual({ value: '0.0.0.0' });
});

describe('behind trusted proxies', () => {
  const TRUSTED = ['10.0.0.0/8', '127.0.0.1', '2001:db8:ffff::/48', '::1', 'fe80::/10'];
  test.each([
    ['the address that the proxy wrote', '10.1.2.3', '203.0.113.9', '203.0.113.9'],
    ['a mapped proxy', '::ffff:10.1.2.3', '203.0.113.9', '203.0.113.9'],
    ['an IPv6 proxy', '2001:db8:ffff:1::1', '203.0.113.9', '203.0.113.9'],
    ['an IPv6 client, by its /64', '10.1.2.3', '2001:db8:1:2:3:4:5:6', '2001:db8:1:2'],
    ['a mapped client', '10.1.2.3', '::ffff:203.0.113.9', '203.0.113.9'],
    ['the last one that is not a proxy', '10.1.2.3', '1.1.1.1, 203.0.113.9, 10.9.9.9', '203.0.113.9'],
    ['a list in several headers', '10.1.2.3', ['1.1.1.1', '203.0.113.9'], '203.0.113.9'],
    ['spaces', '10.1.2.3', '  203.0.113.9  ', '203.0.113.9'],
    ['only proxies', '10.1.2.3', '10.4.4.4, 10.5.5.5', '10.1.2.3'],
    ['a missing header', '10.1.2.3', undefined, '10.1.2.3'],
    ['an empty header', '10.1.2.3', '', '10.1.2.3'],
    ['a header of commas', '10.1.2.3', ',,,', '10.1.2.3'],
    ['an invalid address', '10.1.2.3', 'unknown, <script>', '10.1.2.3'],
    ['an address left of an invalid one', '10.1.2.3', '1.1.1.1, unknown', '10.1.2.3'],
    ['an address with a port', '10.1.2.3', '1.1.1.1, 203.0.113.9:4711', '203.0.113.9'],
    ['an IPv6 address with a port', '10.1.2.3', '1.1.1.1, [2001:db8:1:2::3]:4711', '2001:db8:1:2'],
    ['an IPv6 address in brackets', '10.1.2.3', '[2001:db8:1:2::3]', '2001:db8:1:2'],
    ['a mapped client in hex', '10.1.2.3', '::ffff:cb00:7109', '203.0.113.9'],
    ['a mapped client in hex with a port', '10.1.2.3', '[::ffff:cb00:7109]:4711', '203.0.113.9'],
    ['a mapped client in full', '10.1.2.3', '0:0:0:0:0:ffff:203.0.113.9', '203.0.113.9'],
    ['a client behind NAT64', '10.1.2.3', '64:ff9b::cb00:7109', '203.0.113.9'],
    ['a mapped proxy in hex', '::ffff:a01:203', '203.0.113.9', '203.0.113.9'],
    ['a proxy behind NAT64', '64:ff9b::a01:203', '203.0.113.9', '203.0.113.9'],
    ['a mapped proxy in the list', '10.1.2.3', '203.0.113.9, ::ffff:a09:909', '203.0.113.9'],
    ['a proxy with a zone', 'fe80::1%eth0', '203.0.113.9', '203.0.113.9'],
    ['6to4 that claims the address of a proxy', '2002:a01:203::1', '203.0.113.9', '10.1.2.3'],
    ['an address in quotes', '10.1.2.3', '"[2001:db8:1:2::3]:4711"', '2001:db8:1:2'],
    ['an IPv4 address with leading zeros', '10.1.2.3', '203.0.113.009', '10.1.2.3'],
    ['an address in one number', '10.1.2.3', '3405803785', '10.1.2.3'],
    ['a header from an untrusted address', '192.0.2.1', '203.0.113.9', '192.0.2.1'],
    ['a proxy just outside the network', '11.0.0.1', '203.0.113.9', '11.0.0.1'],
  ])('%s', (_, remote, forwarded, expected) => {
    expect(addressOf(remote, forwarded, TRUSTED)).toBe(expected);
  });

  test('a header of 16 KB is parsed in linear time', () => {
    expect(addressOf('10.1.2.3', Array.from({ length: 4000 }, () => 'x').join(','), TRUSTED)).toBe('10.1.2.3');
  });
});

test.each([
  ['10.0.0.0/8', '10.0.0.0/8', '10.9.9.9'],
  ['10.1.2.3/8', '10.1.2.3/8', '10.9.9.9'],
  ['0.0.0.0/1', '0.0.0.0/1', '::ffff:10.9.9.9'],
  ['::ffff:10.0.0.0/104', '10.0.0.0/8', '10.9.9.9'],
  ['::FFFF:a09:909', '10.9.9.9', '::ffff:10.9.9.9'],
  ['64:ff9b::10.9.9.9', '10.9.9.9', '64:ff9b::a09:909'],
  ['2000::/5', '2000:0:0:0:0:0:0:0/5', '2001:db8::1'],
  ['2001:DB8::/32', '2001:db8:0:0:0:0:0:0/32', '2001:db8::1'],
])('the network %s is trusted as %s', (network, normal, proxy) => {
  expect(readOptions({ trustedProxies: [network] }).trustedProxies).toEqual([normal]);
  expect(addressOf(proxy, '203.0.113.9', [network])).toBe('203.0.113.9');
});

test.each(
  [
    ['nonsense', '10.0.0.0/33', '10.0.0.0/-1', '10.0.0.0/x', '10.0.0.0/', '2001:db8::/129', '10.0.0', '/8', '', '*'],
    ['10.0.0.0/8/8', '10.0.0.0/ 8', '10.0.0.1:80', '[::1]', 'fe80::1%eth0', '::ffff:10.0.0.0/8', 'loopback'],
    [
      '10.0.0.0/255.0.0.0',
      '10.0.0.0/1e0',
      '10.0.0.0/+8',
      '010.0.0.1',
      '10.0.0.0-10.0.0.9',
      '10.*',
      'proxy.example.org',
    ],
  ].flat(),
)('%j is refused as a network', (network) => {
  const read = () => readOptions({ trustedProxies: [network] });
  expect(read).toThrow(OptionError);
  expect(read).toThrow(/^trustedProxies: .*such as 10\.0\.0\.0\/8/);
});
