/** Listening on a port of one's own; why that cannot be is said in the words of the options. */
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
    await app.listen({ host, port });
  } catch (error) {
    throw explainListenError(error, host, port);
  }
  // A server that listens on TCP has an address and a port.
  const taken = (app.server.address() as AddressInfo).port;
  return { url: `http://${WILDCARD_HOSTS.has(host) ? 'localhost' : inUrl(host)}:${taken}`, port: taken };
}

/** Addresses to listen on that nobody can open a page at. */
const WILDCARD_HOSTS = new Set(['0.0.0.0', '::']);

const inUrl = (host: string): string => (host.includes(':') ? `[${host}]` : host);

function explainListenError(error: unknown, host: string, port: number): unknown {
  // Node's errors of the system say which in `code`.
  const { code } = error as NodeJS.ErrnoException;
  const why = {
    EADDRINUSE: `port: ${inUrl(host)}:${port} is taken; end what listens there, or choose another port`,
    EACCES: `port: ${port} may not be listened on by this user; choose one above 1023`,
    EADDRNOTAVAIL: `host: ${host} is no address of this machine`,
    ENOTFOUND: `host: ${host} is no address, and no name of one`,
    EAI_AGAIN: `host: the address of ${host} cannot be looked up`,
  }[code ?? ''];
  return why === undefined ? error : new Error(why, { cause: error });
}
