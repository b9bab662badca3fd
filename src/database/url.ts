/** What the URL of a database looks like. */

export const DATABASE_URLS = 'postgres://..., mysql://... or sqlite:path';

/** Whether a text is one, without saying what it is: it may hold a password. */
export const isDatabaseUrl = (url: string): boolean =>
  /^sqlite:./.test(url) || (/^(postgres|postgresql|mysql|mariadb):\/\/./.test(url) && URL.canParse(url));
