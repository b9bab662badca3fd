/** IP addresses and networks in one form each, whoever wrote them. */
import { isIPv4, isIPv6 } from 'node:net';
import { isHost } from './host.ts';
import type { Reading } from './reading.ts';

/**
 * An IPv4 address as four numbers; an IPv6 address as eight groups in lower case, without leading zeros and without its zone.
 * An IPv4 address inside an IPv6 one is the IPv4 address, in every spelling: all clients that come through one translator or
 * to a dual-stack socket have the same /64 otherwise.
 *
 * @returns undefined for text that is no address
 */
export function readAddress(text: string): string | undefined {
  if (isIPv4(text)) return text;
  if (!isIPv6(text)) return undefined;
  const groups = groupsOf(text.replace(/%.*$/, ''));
  return embedsIPv4(groups) ? ipv4At(groups, 6) : groups.map((group) => group.toString(16)).join(':');
}

/**
 * What counts as one client: an IPv4 address, or the /64 prefix of an IPv6 address, which one subscriber has. A 6to4 address
 * (2002::/16) is its IPv4 address, because the site behind it has 65,536 such prefixes.
 *
 * @param address as `readAddress` returns it
 */
export function subscriberOf(address: string): string {
  if (!address.includes(':')) return address;
  const groups = groupsOf(address);
  return groups[0] === 0x2002 ? ipv4At(groups, 1) : address.split(':').slice(0, 4).join(':');
}

/** `address` or `address/bits`, the address as `readAddress` returns it. */
export function readNetwork(text: string): Reading<string> {
  const refused = { problem: `${JSON.stringify(text)} is neither an address nor a network such as 10.0.0.0/8` };
  const [written = '', bits, ...more] = text.split('/');
  const address = readAddress(written);
  if (address === undefined || written.includes('%') || more.length > 0) return refused;
  // An empty prefix length would become 0, and contain every address.
  if (bits === undefined) return { value: address };
  const length = /^\d{1,3}$/.test(bits) ? Number(bits) : Number.NaN;
  // The network of an embedded IPv4 address: its length counts the 96 bits before it.
  const isEmbedded = isIPv4(address) && !isIPv4(written);
  const inside = isEmbedded ? length - 96 : length;
  // The prefix of a translator is no network of proxies: it would be all of IPv4.
  return inside >= (isEmbedded ? 1 : 0) && inside <= (isIPv4(address) ? 32 : 128)
    ? { value: `${address}/${inside}` }
    : refused;
}

/** An address to listen on, or a host name; without the brackets of a URL, and `::` for each spelling of it. */
export function readListenHost(text: string): Reading<string> {
  const bare = text.replace(/^\[(.*)\]$/, '$1');
  if (isIPv6(bare)) return { value: ALL_IPV4.test(bare) ? '0.0.0.0' : ALL.test(bare) ? '::' : bare };
  if (isHost(text)) return { value: text };
  return { problem: `${JSON.stringify(text)} is neither an address nor a host name, such as :: for all addresses` };
}

/** Such as ::, 0::0 and ::0.0.0.0; and ::ffff:0.0.0.0, which is all of IPv4. */
const ALL = /^[0:.]+$/;
const ALL_IPV4 = /^[0:]+:ffff:[0:.]+$/i;

/** Mapped (RFC 4291), translated (RFC 2765), and NAT64 (RFC 6052). */
const IPV4_PREFIXES = new Set(['0:0:0:0:0:ffff', '0:0:0:0:ffff:0', '64:ff9b:0:0:0:0']);
/** NAT64 with prefixes of 96 bits that a network chooses below 64:ff9b:1::/48 (RFC 8215). */
const LOCAL_NAT64 = '64:ff9b:1:';

/** Whether the last 32 bits are an IPv4 address. */
function embedsIPv4(groups: readonly number[]): boolean {
  const prefix = groups
    .slice(0, 6)
    .map((group) => group.toString(16))
    .join(':');
  // The deprecated form ::192.0.2.1 has no prefix: neither :: nor ::1 is of it.
  return IPV4_PREFIXES.has(prefix) || prefix.startsWith(LOCAL_NAT64) || (prefix === '0:0:0:0:0:0' && groups[6] !== 0);
}

const ipv4At = (groups: readonly number[], index: number): string =>
  groups
    .slice(index, index + 2)
    .flatMap((group) => [group >> 8, group & 0xff])
    .join('.');

/** Expands an address that `isIPv6` accepts to its eight groups. */
function groupsOf(address: string): number[] {
  const [head = [], tail] = address.split('::').map(numbersOf);
  if (tail === undefined) return head;
  return [...head, ...Array.from({ length: 8 - head.length - tail.length }, () => 0), ...tail];
}

const numbersOf = (part: string): number[] =>
  part
    .split(':')
    .filter(Boolean)
    .flatMap((group) => (isIPv4(group) ? pairsOf(group.split('.').map(Number)) : [Number.parseInt(group, 16)]));

const pairsOf = ([a = 0, b = 0, c = 0, d = 0]: readonly number[]): number[] => [(a << 8) | b, (c << 8) | d];
