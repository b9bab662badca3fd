/** Where a database is, in words that hold no credentials. */

/** @param url has been parsed before: whatever the parser would complain of holds the password */
export function addressOf(url: string): string {
  const { hostname, port, pathname } = new URL(url);
  return `${hostname}${port === '' ? '' : `:${port}`}${pathname}`;
}
