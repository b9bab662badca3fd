/** Whose address a request comes from: the connection's, or what trusted proxies say of it. */
import type { IncomingMessage } from 'node:http';
import { BlockList, isIP, isIPv6 } from 'node:net';
import { OptionError } from '../options/options.ts';

export type ClientAddress = (request: Pick<IncomingMessage, 'socket' | 'headers'>) => string;

/**
 * `X-Forwarded-For` is believed only as far as it was written by trusted proxies: from the right, the first address
 * that is not one of them is the client. IPv6 addresses are cut to their /64, which is what one subscriber has.
 */
export function createClientAddress(trustedProxies: readonly string[]): ClientAddress {
  const trusted = toBlockList(trustedProxies);
  // What is no address at all, which a header may well hold, is nobody's whom we trust.
  const isTrusted = (address: string) =>
    isIP(address) !== 0 && trusted.check(address, isIPv6(address) ? 'ipv6' : 'ipv4');
  return ({ socket, headers }) => {
    const direct = plain(socket.remoteAddress ?? '');
    if (direct === '' || !isTrusted(direct)) return subscriber(direct);
    const forwarded = [headers['x-forwarded-for'] ?? []].flat().join(',');
    const hops = forwarded.split(',').map((hop) => plain(withoutPort(hop.trim())));
    const client = hops.findLast((hop) => !isTrusted(hop)) ?? '';
    // What stands further left was written by the client: it is not believed when the last entry makes no sense.
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
      // No digits at all would be 0, and trust everybody.
      else block.addSubnet(address, /^\d+$/.test(bits) ? Number(bits) : Number.NaN, family);
    } catch {
      throw new OptionError('trustedProxies', `${network} is neither an address nor a network`);
    }
  }
  return block;
}

/** Some proxies write `192.0.2.1:4711` or `[2001:db8::1]:4711`. */
const withoutPort = (hop: string): string => hop.replace(/^\[([^\]]*)\](:\d+)?$|^([\d.]+):\d+$/, '$1$3');

/** An IPv4 address that came over an IPv6 socket is still that IPv4 address. */
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
