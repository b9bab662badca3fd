/** SSRF protection: only public addresses, because others may belong to services that only this server can reach. */
import { type LookupAddress, type LookupOptions, lookup } from 'node:dns';
import { BlockList, isIPv4, isIPv6, type LookupFunction } from 'node:net';

/** Not globally reachable by IANA's registry; multicast; and the 6to4 relays, which forward to any other address. */
const PRIVATE_IPV4: readonly (readonly [network: string, bits: number])[] = [
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
/** Inside of the global range: special purposes (Teredo among them), documentation, and 6to4, which embeds any IPv4 address. */
const PRIVATE_IPV6 = [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
] as const;
/** The only global range of IPv6: local, mapped and reserved addresses are outside of it. */
const GLOBAL_IPV6 = ['2000::', 3] as const;
/** NAT64, by which networks without IPv4 reach it: public when the IPv4 address inside is. */
const NAT64 = ['64:ff9b::', 96] as const;

const privateRanges = new BlockList();
const publicRanges = new BlockList();
for (const [network, bits] of PRIVATE_IPV4) {
  privateRanges.addSubnet(network, bits, 'ipv4');
  privateRanges.addSubnet(NAT64[0] + network, NAT64[1] + bits, 'ipv6');
}
for (const [network, bits] of PRIVATE_IPV6) privateRanges.addSubnet(network, bits, 'ipv6');
for (const [network, bits] of [GLOBAL_IPV6, NAT64]) publicRanges.addSubnet(network, bits, 'ipv6');

/** @param address as `node:dns` or `URL` write it, IPv6 without brackets. Text that is not an address is not public. */
export function isPublicAddress(address: string): boolean {
  if (isIPv4(address)) return !privateRanges.check(address, 'ipv4');
  // An address with a zone is link-local.
  if (!isIPv6(address) || address.includes('%')) return false;
  return publicRanges.check(address, 'ipv6') && !privateRanges.check(address, 'ipv6');
}

/** The literal address in a URL, in the normal form that `URL` gives it; undefined when the URL has a host name. */
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
 * Resolves a host name for a connection, so that the address that is checked is the one that is connected to: DNS rebinding
 * gains nothing. Literal addresses are not looked up; check them beforehand.
 */
export function createPublicLookup(resolve: Resolve = lookup): LookupFunction {
  return (hostname, options, callback) => {
    resolve(hostname, { ...options, all: true }, (error, addresses) => {
      if (error !== null) return callback(error, '');
      const found = addresses.filter(({ address }) => isPublicAddress(address));
      const [first] = found;
      if (first === undefined) return callback(new PrivateAddress(), '');
      if (options.all === true) callback(null, found);
      else callback(null, first.address, first.family);
    });
  };
}
