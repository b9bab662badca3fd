/** The address of a client: the peer address of the connection, or the one that trusted proxies report. */
import type { IncomingMessage } from 'node:http';
import { BlockList, isIP, isIPv6 } from 'node:net';
import { OptionError } from '../options/options.ts';

export type ClientAddress = (request: Pick<IncomingMessage, 'socket' | 'headers'>) => string;

/**
 * `X-Forwarded-For` is trusted only as far as trusted proxies have written it: from the right, the first address that is
 * not a trusted proxy is the client. IPv6 addresses are reduced to their /64 prefix, which identifies a subscriber.
 */
export function createClientAddress(trustedProxies: readonly string[]): ClientAddress {
  const trusted = toBlockList(trustedProxies);
  // The header may contain text that is no address: never trusted.
  const isTrusted = (address: string) =>
    isIP(address) !== 0 && trusted.check(address, isIPv6(address) ? 'ipv6' : 'ipv4');
  return ({ socket, headers }) => {
    const direct = plain(socket.remoteAddress ?? '');
    if (direct === '' || !isTrusted(direct)) return subscriber(direct);
    const forwarded = [headers['x-forwarded-for'] ?? []].flat().join(',');
    const hops = forwarded.split(',').map((hop) => plain(withoutPort(hop.trim())));
    const client = hops.findLast((hop) => !isTrusted(hop)) ?? '';
    // Entries further left were written by the client, so they are not a substitute for a malformed entry.
    return subscriber(isIP(client) === 0 ? direct : client);
  };
}

function toBlockList(networks: readonly string[]): BlockList {
  const block = new BlockList();
  for (const network of networks) {
    const [address = '', bits] = network.split('/');
    const family = isIPv6(address) ? 'ipv6' : 'ipv4';
    try {
      if (bits === undefined) block.addAddress(address, family);
      // An empty prefix length would become 0, and trust every address.
      else block.addSubnet(address, /^\d+$/.test(bits) ? Number(bits) : Number.NaN, family);
    } catch {
      throw new OptionError('trustedProxies', `${network} is neither an address nor a network (10.0.0.0/8)`);
    }
  }
  return block;
}

/** Some proxies write `192.0.2.1:4711` or `[2001:db8::1]:4711`. */
const withoutPort = (hop: string): string => hop.replace(/^\[([^\]]*)\](:\d+)?$|^([\d.]+):\d+$/, '$1$3');

/** Unwraps an IPv4-mapped IPv6 address (`::ffff:192.0.2.1`). */
const plain = (address: string): string => address.replace(/^::ffff:(?=\d+\.)/i, '');

function subscriber(address: string): string {
  if (!isIPv6(address)) return address;
  const [head = '', tail = ''] = address.split('::');
  const first = head.split(':').filter(Boolean);
  const last = tail.split(':').filter(Boolean);
  const gap = address.includes('::') ? Array.from({ length: 8 - first.length - last.length }, () => '0') : [];
  return [...first, ...gap, ...last]
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':');
}
