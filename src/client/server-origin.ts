/** The origin of a server, from the URL that a program gives to `connect`. */
import { clientError } from './errors.ts';

/**
 * Only the origin: Socket.IO would interpret a path as a namespace. With `http:` for `ws:`, so that a token is stored once for
 * each server. A text without a scheme, such as `localhost:3000`, is refused here: for `URL` that is the scheme `localhost:`
 * with the origin `null`, a host that the client would look for without end.
 *
 * @throws SignalboxError
 */
export function serverOrigin(url: string): string {
  const text = String(url).trim();
  if (/^(https?|wss?):\/\/[^/?#\\]/i.test(text)) {
    try {
      const { origin, hostname, port } = new URL(text.replace(/^ws/i, 'http'));
      if (HOST.test(hostname) && port !== '0') return origin;
    } catch {
      // Refused below, like everything that is no URL of a server.
    }
  }
  throw clientError(
    'BAD_REQUEST',
    `connect: '${text.replace(/\/\/.*@/, '//')}' is not the URL of a server; expected http:, https:, ws: or wss: and a host`,
  );
}

/** `URL` accepts more characters, such as those of a variable that nobody replaced: https://$HOST */
const HOST = /^([\w-]+(\.[\w-]+)*\.?|\[[\da-f:]+\])$/;
