/**
 * The host and the port of a URL, as a strict reader accepts them. `URL` alone accepts any character but about a dozen in a
 * host, so a variable that nobody replaced (`$HOST`), a quote or a wildcard would be taken for a name.
 */
import { isIPv4, isIPv6 } from 'node:net';

/** A host name, an IPv4 address, or an IPv6 address in brackets. Names in ASCII: those of other scripts in their xn-- form. */
export function isHost(host: string): boolean {
  const inside = /^\[(.*)\]$/.exec(host)?.[1];
  if (inside !== undefined) return isIPv6(inside) && !inside.includes('%');
  if (isIPv4(host)) return true;
  const labels = host.replace(/\.$/, '').split('.');
  // A name whose last label is a number would be an IPv4 address that is none, such as 256.1.1.1.
  return host.length <= MAX_NAME && labels.every((label) => LABEL.test(label)) && !/^\d+$/.test(labels.at(-1) ?? '');
}

const MAX_NAME = 254;
const LABEL = /^[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?$/i;

/** Digits only, 1 to 65535: `Number` would accept blanks, signs and 0x10 as well. */
export const isPort = (port: string): boolean => /^\d{1,5}$/.test(port) && Number(port) >= 1 && Number(port) <= 65_535;

/** Splits `host`, `host:port` and `[::1]:port`; undefined for anything else, such as an IPv6 address without brackets. */
export function splitHost(text: string): { readonly host: string; readonly port: string | undefined } | undefined {
  const match = /^(\[[^[\]]*\]|[^:[\]]*)(?::(.*))?$/.exec(text);
  return match?.[1] === undefined ? undefined : { host: match[1], port: match[2] };
}

/** What is wrong with host, port and credentials of a URL with an authority; undefined when nothing is. Repeats none of them. */
export function authorityProblem(text: string): string | undefined {
  if (/[\s\p{Cc}\\]/u.test(text)) return 'contains a blank or a backslash';
  if (!URL.canParse(text)) return 'cannot be parsed: in a password, / is written %2F, ? %3F, # %23, @ %40 and % %25';
  const { hostname, port, username, password } = new URL(text);
  // `https:///path` is the host `path` for `URL`.
  if (!isHost(hostname) || !/^[^/]+\/\/[^/?#]/.test(text)) return 'has no valid host';
  // Without digits behind the colon it is a variable that is empty, and not the default port.
  if (port === '0' || /^[^/]*\/\/[^/?#]*:([/?#]|$)/.test(text)) return 'has no valid port';
  return isEncoded(username) && isEncoded(password) ? undefined : 'has a % in its credentials that is not written %25';
}

function isEncoded(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}
