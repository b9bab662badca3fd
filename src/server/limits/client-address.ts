/** The address of a client: the peer address of the connection, or the one that trusted proxies report. */
import type { IncomingMessage } from 'node:http';
import { BlockList, isIPv6 } from 'node:net';
import { readAddress, subscriberOf } from '../../support/ip-address.ts';

export type ClientAddress = (request: Pick<IncomingMessage, 'socket' | 'headers'>) => string;

/**
 * `X-Forwarded-For` is trusted only as far as trusted proxies have written it: from the right, the first address that is
 * not a trusted proxy is the client. IPv6 addresses are reduced to their /64 prefix, which identifies a subscriber.
 *
 * @param trustedProxies in the form in which the options have them
 */
export function createClientAddress(trustedProxies: readonly string[]): ClientAddress {
  const trusted = toBlockList(trustedProxies);
  const isTrusted = (address: string) => trusted.check(address, familyOf(address));
  return ({ socket, headers }) => {
    const direct = readAddress(socket.remoteAddress ?? '');
    if (direct === undefined) return '';
    if (!isTrusted(direct)) return subscriberOf(direct);
    const forwarded = [headers['x-forwarded-for'] ?? []].flat().join(',');
    for (const hop of forwarded.split(',').reverse()) {
      const address = readAddress(withoutPort(hop.trim()));
      // Entries further left were written by the client, so they are not a substitute for a malformed entry.
      if (address === undefined) break;
      if (!isTrusted(address)) return subscriberOf(address);
    }
    return subscriberOf(direct);
  };
}

const familyOf = (address: string): 'ipv4' | 'ipv6' => (isIPv6(address) ? 'ipv6' : 'ipv4');

function toBlockList(networks: readonly string[]): BlockList {
  const block = new BlockList();
  for (const network of networks) {
    const [address = '', bits] = network.split('/');
    if (bits === undefined) block.addAddress(address, familyOf(address));
    else block.addSubnet(address, Number(bits), familyOf(address));
  }
  return block;
}

/** Some proxies write `192.0.2.1:4711`, `[2001:db8::1]:4711` or `"[2001:db8::1]"`. */
const withoutPort = (hop: string): string =>
  hop.replace(/^"(.*)"$/, '$1').replace(/^\[([^\]]*)\](:\d+)?$|^([\d.]+):\d+$/, '$1$3');
