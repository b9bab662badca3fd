/** The spellings of an option: `graceMs` in a program, `--grace-ms` as a flag, `SIGNALBOX_GRACE_MS` as a variable. */

/** The prefix of our variables. Kubernetes and Docker make variables with it too, see environment.ts. */
export const PREFIX = 'SIGNALBOX_';

/** `graceMs` as `--grace-ms`. */
export const flagOf = (name: string): string => `--${snake(name, '-')}`;
/** `graceMs` as `SIGNALBOX_GRACE_MS`. */
export const variableOf = (name: string): string => `${PREFIX}${snake(name, '_').toUpperCase()}`;
/** `adminToken` as `SIGNALBOX_ADMIN_TOKEN_FILE`: the path of a file with the secret. */
export const fileVariableOf = (name: string): string => `${variableOf(name)}_FILE`;

const snake = (name: string, separator: string) =>
  name.replace(/[A-Z]/g, (letter) => `${separator}${letter.toLowerCase()}`);
