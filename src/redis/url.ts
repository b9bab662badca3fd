/** URLs of Redis. May contain credentials, so they are never repeated. */
import { authorityProblem } from '../support/host.ts';
import { clusterUrlProblem, isClusterUrl, readClusterUrl } from './cluster/url.ts';
import { isSentinelUrl, readSentinelUrl, sentinelUrlProblem } from './sentinel/url.ts';

const EXPECTED =
  'expected redis://host:6379, rediss://user:password@host:6379/0, redis+sentinel://host:26379,host:26379/name/0, ' +
  'redis+cluster://host:6379,host:6379 or unix:///path/to/socket';

/** What is wrong with a URL; undefined when node-redis reads it as it is meant. */
export function redisUrlProblem(url: string): string | undefined {
  const problem = problemReaderOf(url)(url);
  return problem === undefined ? undefined : `the URL of Redis ${problem}; ${EXPECTED}`;
}

function problemReaderOf(url: string): (url: string) => string | undefined {
  if (isSentinelUrl(url)) return sentinelUrlProblem;
  if (isClusterUrl(url)) return clusterUrlProblem;
  return /^unix:/i.test(url) ? socketProblem : serverProblem;
}

function serverProblem(url: string): string | undefined {
  if (!/^rediss?:\/\//i.test(url)) return 'has another scheme, or none';
  const problem = authorityProblem(url);
  if (problem !== undefined) return problem;
  const { pathname, search, hash } = new URL(url);
  // node-redis reads the number by `Number`, for which 0x1 and 1e1 are numbers too.
  if (!/^(\/\d{0,5})?$/.test(pathname)) return 'has no number of a database behind the host';
  // node-redis ignores both: a ?db=1 would be database 0.
  return search === '' && hash === '' ? undefined : 'has a ? or # that nothing reads';
}

const socketProblem = (url: string): string | undefined =>
  /^unix:\/\/(([^:@/\s]*)(:[^:@/\s]*)?@)?\/[^?#\s]+(\?db=\d{1,5})?$/.test(url) && !/%(?![\da-f]{2})/i.test(url)
    ? undefined
    : 'has no path of a socket';

/**
 * Host and port, the path of the socket, or the sentinels, without credentials: for logs.
 *
 * @throws Error that says what is wrong.
 */
export function addressOf(url: string): string {
  const problem = redisUrlProblem(url);
  if (problem !== undefined) throw new Error(problem);
  if (isClusterUrl(url)) {
    const seeds = readClusterUrl(url).seeds.map(({ host, port }) => `${host}:${port}`);
    return `the Cluster of ${seeds.join(', ')}`;
  }
  if (isSentinelUrl(url)) {
    const { sentinels, masterName } = readSentinelUrl(url).sentinels;
    return `${masterName} of the sentinels ${sentinels.map(({ host, port }) => `${host}:${port}`).join(', ')}`;
  }
  const { protocol, hostname, port, pathname } = new URL(url.replace(/^(unix:\/\/)[^@/]*@/, '$1'));
  return protocol === 'unix:' ? pathname : `${hostname}:${port || '6379'}`;
}

/** The number of the database, of a URL without a problem. */
export function databaseOf(url: string): number {
  if (isClusterUrl(url)) return 0;
  if (isSentinelUrl(url)) return readSentinelUrl(url).database;
  return Number(/^unix:/i.test(url) ? (/\?db=(\d+)$/.exec(url)?.[1] ?? 0) : new URL(url).pathname.slice(1));
}
