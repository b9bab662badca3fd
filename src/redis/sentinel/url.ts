/** `redis+sentinel://user:password@host:26379,host:26379/name/0?sentinelPassword=...`; with `rediss+`, all connections use TLS. */
import { credentialsOf, hostsProblem, partsOf, readAddresses } from '../hosts-url.ts';
import type { SentinelSettings } from './connection.ts';

export interface SentinelTarget {
  readonly sentinels: SentinelSettings;
  /** Of Redis, on the primary and all that may become it. */
  readonly username: string | undefined;
  readonly password: string | undefined;
  readonly database: number;
}

const SCHEME = /^rediss?\+sentinel:\/\//i;
/** The name has the characters that sentinels allow. */
const PATH = /^\/(?<name>[\w.-]+)(?:\/(?<database>\d{1,5})?)?$/;
const PARAMETERS = ['sentinelUsername', 'sentinelPassword'];
const DEFAULT_PORT = 26_379;

export const isSentinelUrl = (url: string): boolean => SCHEME.test(url);

/** What is wrong with it, without repeating any of it. */
export function sentinelUrlProblem(url: string): string | undefined {
  const parts = partsOf(url);
  const problem = hostsProblem(parts);
  if (problem !== undefined) return problem;
  const { path, query } = parts;
  if (!PATH.test(path ?? ''))
    return 'has no name of the primary behind the hosts, or something else than a database behind it';
  return queryProblem(query);
}

function queryProblem(query: string | undefined): string | undefined {
  if (query === undefined) return undefined;
  const known = query.split('&').map((pair) => PARAMETERS.find((name) => pair.startsWith(`${name}=`)));
  if (known.includes(undefined) || new Set(known).size < known.length) {
    return 'has other parameters than sentinelUsername and sentinelPassword';
  }
  if (/%(?![\da-f]{2})|\s/i.test(query)) return 'has a % in its parameters that is not written %25';
  return known.includes('sentinelPassword') ? undefined : 'has a sentinelUsername and no sentinelPassword';
}

/** Of a URL without a problem. */
export function readSentinelUrl(url: string): SentinelTarget {
  const { scheme = '', login, hosts = '', path = '', query = '' } = partsOf(url);
  const { name = '', database = '0' } = PATH.exec(path)?.groups ?? {};
  const [username, password] = credentialsOf(login);
  const [sentinelUsername, sentinelPassword] = PARAMETERS.map((parameter) => {
    const pair = query.split('&').find((it) => it.startsWith(`${parameter}=`));
    return pair === undefined ? undefined : decodeURIComponent(pair.slice(parameter.length + 1));
  });
  return {
    sentinels: {
      sentinels: readAddresses(hosts, DEFAULT_PORT),
      masterName: name,
      username: sentinelUsername,
      password: sentinelPassword,
      tls: /^rediss/i.test(scheme),
    },
    username,
    password,
    database: Number(database),
  };
}
