/** Which addresses are out on the internet: an endpoint anywhere else would let its URL reach what only we can reach. */
import { type LookupAddress, type LookupOptions, lookup } from 'node:dns';
import { BlockList, isIPv4, isIPv6, type LookupFunction } from 'node:net';

/** What IANA lists as not globally reachable, with multicast, and the relays of 6to4, which lead to any other. */
const CLOSED_IPV4: readonly (readonly [network: string, bits: number])[] = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
];
/** Of the addresses for everybody: those for special ends, Teredo among them; documentation; 6to4, which holds any IPv4. */
const CLOSED_IPV6 = [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
] as const;
/** What is open at all in IPv6: local, mapped and reserved ones are outside of it, whatever they will be called. */
const GLOBAL_IPV6 = ['2000::', 3] as const;
/** How networks without IPv4 reach it: as open as the IPv4 address inside. */
const NAT64 = ['64:ff9b::', 96] as const;

const closed = new BlockList();
const open = new BlockList();
for (const [network, bits] of CLOSED_IPV4) {
  closed.addSubnet(network, bits, 'ipv4');
  closed.addSubnet(NAT64[0] + network, NAT64[1] + bits, 'ipv6');
}
for (const [network, bits] of CLOSED_IPV6) closed.addSubnet(network, bits, 'ipv6');
for (const [network, bits] of [GLOBAL_IPV6, NAT64]) open.addSubnet(network, bits, 'ipv6');

/** @param address as `node:dns` or `URL` spell it, an IPv6 address without brackets. What is no address is not public. */
export function isPublicAddress(address: string): boolean {
  if (isIPv4(address)) return !closed.check(address, 'ipv4');
  // An address with a zone is meant for one link.
  if (!isIPv6(address) || address.includes('%')) return false;
  return open.check(address, 'ipv6') && !closed.check(address, 'ipv6');
}

/** The literal address in a URL, in its one spelling, whichever it was written in; undefined when it has a name. */
export function literalAddress({ hostname }: URL): string | undefined {
  const bare = hostname.replace(/^\[(.*)\]$/, '$1');
  return isIPv4(bare) || isIPv6(bare) ? bare : undefined;
}

export class PrivateAddress extends Error {
  override readonly name = 'PrivateAddress';
  constructor() {
    super('the address is not a public one');
  }
}

export type Resolve = (
  hostname: string,
  options: LookupOptions & { all: true },
  callback: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void;

/**
 * Resolves a name for the connection that is being made: what is checked here is what is connected to, so a name that
 * changes its address in between gains nothing. Addresses in URLs are not looked up, and are to be checked beforehand.
 */
export function createPublicLookup(resolve: Resolve = lookup): LookupFunction {
  return (hostname, options, callback) => {
    resolve(hostname, { ...options, all: true }, (error, addresses) => {
      if (error !== null) return callback(error, '');
      const open = addresses.filter(({ address }) => isPublicAddress(address));
      const [first] = open;
      if (first === undefined) return callback(new PrivateAddress(), '');
      if (options.all === true) callback(null, open);
      else callback(null, first.address, first.family);
    });
  };
}
