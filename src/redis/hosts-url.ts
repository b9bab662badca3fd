/** The parts of a URL with several hosts, which `URL` does not parse. */
import { authorityProblem } from '../support/host.ts';

export interface ServerAddress {
  /** An IPv6 address is without its brackets. */
  readonly host: string;
  readonly port: number;
}

const PARTS = /^(?<scheme>[^:]+):\/\/(?:(?<login>[^@/?#]*)@)?(?<hosts>[^/?#@]*)(?<path>[^?#]*)(?:\?(?<query>[^#]*))?$/;

export const partsOf = (url: string): Partial<Record<string, string>> => PARTS.exec(url)?.groups ?? {};

/** What is wrong with the hosts and the credentials. */
export function hostsProblem({ login, hosts }: Partial<Record<string, string>>): string | undefined {
  if (hosts === undefined) return 'cannot be parsed';
  for (const host of hosts.split(',')) {
    const problem = authorityProblem(`redis://${login === undefined ? '' : `${login}@`}${host}`);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

export function credentialsOf(login = ''): readonly (string | undefined)[] {
  const [username = '', ...password] = login.split(':');
  return [username, password.join(':')].map((text) => (text === '' ? undefined : decodeURIComponent(text)));
}

export function readAddresses(hosts: string, defaultPort: number): ServerAddress[] {
  return hosts.split(',').map((text) => {
    const { hostname, port } = new URL(`redis://${text}`);
    return { host: hostname.replace(/^\[(.*)\]$/, '$1'), port: Number(port || defaultPort) };
  });
}

export const isSameServer = (one: ServerAddress, other: ServerAddress): boolean =>
  one.host === other.host && one.port === other.port;
