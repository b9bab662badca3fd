/**
 * URLs of STUN and TURN servers (RFC 7064 and 7065). At least as strict as browsers: one malformed URL makes RTCPeerConnection
 * throw, so that no peer of any room connects, and the operator would not hear of it.
 */
import { isHost, isPort, splitHost } from '../../support/host.ts';
import type { Reading } from '../../support/reading.ts';

/** Scheme and transport in lower case, as the RFCs write them: not every library accepts capitals, as browsers do. */
export const readStunUrl = (text: string): Reading<string> =>
  readIceUrl(text, 'stun', 'stun:stun.example.org:3478 or stuns:stun.example.org:5349');

export const readTurnUrl = (text: string): Reading<string> =>
  readIceUrl(text, 'turn', 'turn:turn.example.org:3478?transport=udp or turns:turn.example.org:5349?transport=tcp');

function readIceUrl(text: string, kind: 'stun' | 'turn', example: string): Reading<string> {
  const refuse = (reason: string) => ({
    problem: `${JSON.stringify(text)} ${reason}: expected a URL such as ${example}`,
  });
  const [, scheme = '', rest = ''] = /^([a-z]+):([^\s\p{Cc}]*)$/iu.exec(text) ?? [];
  if (!new RegExp(`^${kind}s?$`, 'i').test(scheme))
    return refuse(`does not begin with ${kind}: or ${kind}s:, or has blanks`);
  if (rest.startsWith('//')) return refuse('has slashes before the host');
  if (rest.includes('@')) return refuse('has a user, and credentials are made by turnSecrets');
  const [authority = '', ...queries] = rest.split('?');
  const { host = '', port } = splitHost(authority) ?? {};
  const name = asciiOf(host);
  if (!isHost(name)) return refuse('has no valid host (IPv6 addresses stand in brackets)');
  if (port !== undefined && !isPort(port)) return refuse('has no valid port');
  const query = queries.length === 0 ? '' : `?${queries.join('?').toLowerCase()}`;
  if (query !== '' && kind === 'stun') return refuse('has a query');
  if (query !== '' && !/^\?transport=(udp|tcp)$/.test(query))
    return refuse('has another query than ?transport=udp or tcp');
  return { value: `${scheme.toLowerCase()}:${name}${port === undefined ? '' : `:${port}`}${query}` };
}

/** A name in another script in its xn-- form, as browsers resolve it. */
function asciiOf(host: string): string {
  if (!/\P{ASCII}/u.test(host) || !URL.canParse(`http://${host}`)) return host;
  return new URL(`http://${host}`).hostname;
}
