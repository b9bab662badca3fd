/** Database URLs. */

export const DATABASE_URLS = 'postgres://..., mysql://... or sqlite:path';

/** Whether a text is a database URL. Does not throw, because an error would repeat the password. */
export const isDatabaseUrl = (url: string): boolean =>
  /^sqlite:./.test(url) || (/^(postgres|postgresql|mysql|mariadb):\/\/./.test(url) && URL.canParse(url));

/**
 * Host, port and path of a URL, without its credentials.
 *
 * @param url was parsed before: the parser's own complaint would repeat the password
 */
export function locationOf(url: string): string {
  const { hostname, port, pathname } = new URL(url);
  return `${hostname}${port === '' ? '' : `:${port}`}${pathname}`;
}
