/** The addresses at which other machines, or other processes of this one, reach an HTTP server. */
import type { AddressInfo } from 'node:net';
import { networkInterfaces } from 'node:os';

/** Of an HTTP server: scheme, host and port, and nothing behind them. */
export const HTTP_ADDRESS = /^http:\/\/([A-Za-z\d]([A-Za-z\d.-]{0,251}[A-Za-z\d])?|\[[\da-f:]{2,39}\]):[1-9]\d{0,4}$/;

const WILDCARDS = new Set(['0.0.0.0', '::']);

export interface Listening {
  address(): AddressInfo | string | null;
}

/** @returns none for a server that does not listen on a port; on all interfaces, their IPv4 addresses. */
export function addressesOf(server: Listening): string[] {
  const bound = server.address();
  if (bound === null || typeof bound === 'string') return [];
  const hosts = WILDCARDS.has(bound.address) ? hostsOfMachine() : [bound.address];
  return hosts.map((host) => `http://${host.includes(':') ? `[${host}]` : host}:${bound.port}`);
}

function hostsOfMachine(): string[] {
  const all = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
  const hosts = all.filter(({ family, internal }) => family === 'IPv4' && !internal).map(({ address }) => address);
  return hosts.length > 0 ? hosts : ['127.0.0.1'];
}
