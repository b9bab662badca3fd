/** Origins, in an option and in the header of a request: one reader for both, so that what is compared has one form. */
import { isHost, isPort, splitHost } from '../../support/host.ts';
import { readAddress } from '../../support/ip-address.ts';
import type { Reading } from '../../support/reading.ts';

const EXPECTED = 'expected scheme://host[:port], such as https://app.example.org, or * for all';

/** An entry of `allowedOrigins`. One slash behind the host is dropped: that is how an address bar shows an origin. */
export function readAllowedOrigin(text: string): Reading<string> {
  if (text === '*') return { value: text };
  const value = readOrigin(text.replace(/\/$/, ''));
  return value === undefined ? { problem: `${quoted(text)} is ${reasonFor(text)}: ${EXPECTED}` } : { value };
}

/**
 * The normal form of an origin, or undefined. Undefined also for the opaque origin `null`, which a sandboxed frame of any site
 * sends: `URL` gives it for every scheme that is not of the web, so its result must never be compared.
 */
export function readOrigin(text: string): string | undefined {
  const [, scheme, authority] = /^([a-z][a-z0-9+.-]*):\/\/([^/?#@\\\s\p{Cc}]+)$/iu.exec(text) ?? [];
  if (scheme === undefined || authority === undefined) return undefined;
  return /^https?$/i.test(scheme) ? readWebOrigin(scheme, authority) : readAppOrigin(scheme, authority);
}

/** Default port, capitals, names in other scripts and spellings of addresses are normalised as browsers do it, those of IPv4 excepted. */
function readWebOrigin(scheme: string, authority: string): string | undefined {
  const { host, port } = splitHost(authority) ?? {};
  if (port !== undefined && !isPort(port)) return undefined;
  const text = `${scheme}://${authority}`;
  if (!URL.canParse(text)) return undefined;
  const { origin, hostname } = new URL(text);
  // 1.2.3 would be 1.2.0.3: a number is forgotten, and another machine would be allowed.
  if (readAddress(hostname) !== undefined && hostname !== host) return undefined;
  return isHost(hostname) ? origin : undefined;
}

/** Such as capacitor://localhost, chrome-extension://id or app://. of Electron: compared as written, in lower case. */
function readAppOrigin(scheme: string, authority: string): string | undefined {
  const { host = '', port } = splitHost(authority) ?? {};
  if (NO_PAGES.has(scheme.toLowerCase()) || !APP_HOST.test(host)) return undefined;
  return port === undefined || isPort(port) ? `${scheme}://${authority}`.toLowerCase() : undefined;
}

const APP_HOST = /^[a-z0-9._~-]+$/i;
/** Schemes whose origins no page has. */
const NO_PAGES = new Set(['ws', 'wss', 'ftp', 'file', 'blob', 'data', 'about', 'javascript']);

function reasonFor(text: string): string {
  if (/^null$/i.test(text)) return 'the origin of sandboxed frames of any site, which only * allows';
  if (text.includes('*')) return 'a pattern, and patterns are not supported';
  if (/^file:/i.test(text)) return 'the origin of local files, whoever wrote them, which only * allows';
  if (/^(wss?|ftp):/i.test(text)) return 'not an origin that pages have';
  return text.includes('://') ? 'not an origin' : 'not an origin: it has no scheme';
}

const MAX_SHOWN = 100;
const quoted = (text: string): string => JSON.stringify(text.slice(0, MAX_SHOWN));
