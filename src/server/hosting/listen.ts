/** Listens on a port of its own. Errors name the option to change. */
import type { AddressInfo } from 'node:net';
import type { FastifyInstance } from 'fastify';
import type { Options } from '../options/options.ts';
import { routeOwnUpgrades } from './upgrade-router.ts';

/** @throws Error that names the option to change. */
export async function listen(
  app: FastifyInstance,
  { host, port, socketPath }: Options,
): Promise<{ url: string; port: number }> {
  routeOwnUpgrades(app.server, socketPath);
  try {
    await listenOn(app, host, port);
  } catch (error) {
    throw explainListenError(error, host, port);
  }
  // Cast: a server that listens on TCP has an address with a port.
  const actualPort = (app.server.address() as AddressInfo).port;
  return { url: `http://${WILDCARD_HOSTS.has(host) ? 'localhost' : inUrl(host)}:${actualPort}`, port: actualPort };
}

/** `::` takes connections over IPv4 too. A machine whose kernel has no IPv6 has only the wildcard of IPv4. */
async function listenOn(app: FastifyInstance, host: string, port: number): Promise<void> {
  try {
    await app.listen({ host, port });
  } catch (error) {
    // Cast: system errors of Node have a `code`.
    if (host !== '::' || !NO_IPV6.has((error as NodeJS.ErrnoException).code ?? '')) throw error;
    await app.listen({ host: '0.0.0.0', port });
  }
}

const NO_IPV6 = new Set(['EAFNOSUPPORT', 'EADDRNOTAVAIL']);

/** Addresses for listening on all interfaces, which are no host of a URL. */
const WILDCARD_HOSTS = new Set(['0.0.0.0', '::']);

const inUrl = (host: string): string => (host.includes(':') ? `[${host}]` : host);

function explainListenError(error: unknown, host: string, port: number): unknown {
  // Cast: system errors of Node have a `code`.
  const { code } = error as NodeJS.ErrnoException;
  const reason = {
    EADDRINUSE: `port: ${inUrl(host)}:${port} is in use; stop the process that listens there, or choose another port`,
    EACCES: `port: ${port} needs more privileges than this user has; choose a port above 1023`,
    EADDRNOTAVAIL: `host: ${host} is not an address of this machine`,
    ENOTFOUND: `host: ${host} is neither an address nor a known host name`,
    EAI_AGAIN: `host: the DNS lookup of ${host} failed`,
  }[code ?? ''];
  return reason === undefined ? error : new Error(reason, { cause: error });
}
