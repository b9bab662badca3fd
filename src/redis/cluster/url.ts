/** `redis+cluster://user:password@host:6379,host:6379`; with `rediss+`, all connections use TLS. */
import { credentialsOf, hostsProblem, partsOf, readAddresses, type ServerAddress } from '../hosts-url.ts';

export interface ClusterTarget {
  /** Some of its nodes: they name the others. */
  readonly seeds: readonly ServerAddress[];
  /** Of all nodes. */
  readonly username: string | undefined;
  readonly password: string | undefined;
  readonly tls: boolean;
}

const SCHEME = /^rediss?\+cluster:\/\//i;
const DEFAULT_PORT = 6379;

export const isClusterUrl = (url: string): boolean => SCHEME.test(url);

/** What is wrong with it, without repeating any of it. */
export function clusterUrlProblem(url: string): string | undefined {
  const parts = partsOf(url);
  const { path = '', query } = parts;
  const problem = hostsProblem(parts);
  if (problem !== undefined) return problem;
  if (!/^(\/0?)?$/.test(path)) return 'names a database other than 0, and a Cluster has no other one';
  return query === undefined ? undefined : 'has a ? that nothing reads';
}

/** Of a URL without a problem. */
export function readClusterUrl(url: string): ClusterTarget {
  const { scheme = '', login, hosts = '' } = partsOf(url);
  const [username, password] = credentialsOf(login);
  return { seeds: readAddresses(hosts, DEFAULT_PORT), username, password, tls: /^rediss/i.test(scheme) };
}
