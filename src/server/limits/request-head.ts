/**
 * What Node accepts in the head of a request although a filter in front may read it differently than this server does. A
 * rule such as "nothing below /v1 from outside" must not be passed by another spelling of the same path or by a second
 * header, of which one side reads the first and the other the last.
 */
import type { IncomingMessage } from 'node:http';

/** Escapes of characters that need none (RFC 3986: letters, digits, `-`, `.`, `_`, `~`). Clients do not write them. */
const NEEDLESS_ESCAPE = /%(?:2[DE]|3\d|[46][1-9A-F]|5[\dAF]|7[\dAE])/i;
/** No request target has them; the router would end the path at `#`, and some proxies take the backslash for a slash. */
const MISPLACED = /[#\\]/;
/** Headers that decide who asks whom: one of each at most. */
const SINGLE = ['host', 'authorization'];

/** @returns why a request is refused; undefined for one that can be read in one way only. */
export function whyAmbiguous(request: IncomingMessage): string | undefined {
  const { url = '', httpVersion, headers } = request;
  // Also the absolute form (`GET http://host/path`), in which only proxies are asked.
  if (!url.startsWith('/')) return 'The request target must be a path.';
  const path = url.split('?', 1)[0] ?? '';
  if (NEEDLESS_ESCAPE.test(path)) return 'The path has an escape of a character that needs none.';
  if (MISPLACED.test(url)) return 'The request target has a character that belongs in none.';
  if (httpVersion === '1.1' && headers.host === undefined) return 'The header Host is missing.';
  const repeated = SINGLE.find((name) => countOf(request, name) > 1);
  return repeated === undefined ? undefined : `The header ${repeated} comes more than once.`;
}

function countOf({ rawHeaders }: IncomingMessage, name: string): number {
  let count = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const header = rawHeaders[at] ?? '';
    if (header.length === name.length && header.toLowerCase() === name) count += 1;
  }
  return count;
}
