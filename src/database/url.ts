/** URLs of databases. May contain credentials, so they are never repeated. */
import { authorityProblem } from '../support/host.ts';

const EXPECTED =
  'expected postgres://user:password@host/name, mysql://user:password@host/name, sqlite:path or sqlite:///absolute/path';

/** What is wrong with a URL; undefined when its driver reads it as it is meant. */
export function databaseUrlProblem(url: string): string | undefined {
  const problem = url.startsWith('sqlite:') ? fileProblem(url.slice('sqlite:'.length)) : serverProblem(url);
  return problem === undefined ? undefined : `the URL of the database ${problem}; ${EXPECTED}`;
}

function fileProblem(path: string): string | undefined {
  if (path.replaceAll(/[./]/g, '') === '' || /\p{Cc}/u.test(path)) return 'has no path of a file';
  // A path behind two slashes would begin with what looks like a host, and be absolute.
  return /^\/\/(?!\/)/.test(path) ? 'has two slashes, which begin neither kind of path' : undefined;
}

function serverProblem(url: string): string | undefined {
  const kind = /^(postgres|postgresql|mysql|mariadb):\/\//.exec(url)?.[1];
  if (kind === undefined) return 'has another scheme, or none';
  // The driver of PostgreSQL alone takes a socket, as ?host=/path or as an encoded host.
  const socket =
    kind.startsWith('postgres') &&
    (/^[^?#]*\/\/([^/?#@]*@)?\/[^?#]*\?(.*&)?host=/.test(url) || /\/\/([^/?#@]*@)?%2f/i.test(url));
  const problem = socket && URL.canParse(withHost(url)) ? undefined : authorityProblem(url);
  if (problem !== undefined) return problem;
  const { pathname, hash } = new URL(withHost(url));
  if (hash !== '') return 'has a # that nothing reads';
  if (/^\/?[^/]+$/.test(pathname)) return undefined;
  // PostgreSQL has a database of the user's name; MySQL has no default.
  return kind.startsWith('postgres') && pathname.length < 2 ? undefined : 'has no name of a database behind the host';
}

/** `postgres://user@/name?host=/path` has no host behind the user: the driver takes it, and `URL` does not. */
const withHost = (url: string): string => url.replace(/^([^/]*\/\/[^/?#@]*@)\//, '$1socket/');

/**
 * Host, port and path of a URL, without its credentials.
 *
 * @param url was checked before: the parser's own complaint would repeat the password
 */
export function locationOf(url: string): string {
  const { hostname, port, pathname } = new URL(withHost(url));
  return `${hostname}${port === '' ? '' : `:${port}`}${pathname}`;
}
