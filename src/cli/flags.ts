/** Options as flags and environment variables, derived from the table of options. */
import { Option } from 'commander';
import { OPTIONS, OptionError, type OptionName, type PartialOptions } from '../server/options/options.ts';

type Environment = Readonly<Record<string, string | undefined>>;
type Entry = (typeof OPTIONS)[OptionName];

const NAMES = Object.keys(OPTIONS) as OptionName[];

/** `graceMs` as `--grace-ms`. */
export const flagOf = (name: string): string => `--${snake(name, '-')}`;
/** `graceMs` as `SIGNALBOX_GRACE_MS`. */
export const variableOf = (name: string): string => `SIGNALBOX_${snake(name, '_').toUpperCase()}`;

/** Reserved variables that are set: they have no effect yet. */
export const withoutEffect = (environment: Environment): string[] =>
  RESERVED.filter((name) => environment[name] !== undefined);

const snake = (name: string, separator: string) =>
  name.replace(/[A-Z]/g, (letter) => `${separator}${letter.toLowerCase()}`);

/** Flags with their help texts: meaning, default and variable. */
export function flags(): Option[] {
  return NAMES.map((name) => {
    const entry: Entry = OPTIONS[name];
    const option = new Option(`${flagOf(name)} ${PLACEHOLDERS[entry.kind]}`, `${entry.help} ${notes(name, entry)}`);
    return option;
  });
}

const PLACEHOLDERS = { text: '<text>', number: '<number>', flag: '[true|false]', list: '<a,b,...>' } as const;

function notes(name: OptionName, entry: Entry): string {
  const variables = [variableOf(name), 'env' in entry ? entry.env : undefined].filter(Boolean).join(' or ');
  const fallback = entry.schema.safeParse(undefined);
  const value = fallback.success ? fallback.data : undefined;
  const shown = value === undefined || (Array.isArray(value) && value.length === 0) ? '' : `default ${String(value)}; `;
  return `(${shown}${variables})`;
}

/**
 * Reads options from parsed flags and the environment. Precedence: flags, SIGNALBOX_ variables, plain variables.
 *
 * @throws OptionError for a malformed value, and for an unknown SIGNALBOX_ variable.
 */
export function readFlags(given: Readonly<Record<string, unknown>>, environment: Environment): PartialOptions {
  refuseUnknown(environment);
  const read = NAMES.flatMap((name) => {
    const entry: Entry = OPTIONS[name];
    const [spelling, text] = firstGiven([
      [flagOf(name), given[name]],
      [variableOf(name), environment[variableOf(name)]],
      ...('env' in entry ? [[entry.env, environment[entry.env]] as const] : []),
    ]);
    return text === undefined ? [] : [[name, parse(entry.kind, text, spelling)]];
  });
  return Object.fromEntries(read);
}

/** SIGNALBOX_ variables of the command line itself. */
const CLI_VARIABLES = ['SIGNALBOX_LOG_LEVEL'];

/** Variables of planned options: deployments may set them already, without effect. */
const RESERVED = ['socketsPerAddress', 'handshakesPerSecond', 'handshakesBurst'].map(variableOf);

function refuseUnknown(environment: Environment): void {
  const known = new Set([...NAMES.map(variableOf), ...CLI_VARIABLES, ...RESERVED]);
  for (const name of Object.keys(environment)) {
    if (name.startsWith('SIGNALBOX_') && !known.has(name)) {
      throw new OptionError(name, 'no such option; see signalbox serve --help');
    }
  }
}

/**
 * The first source with a value. An empty variable counts as unset, because compose files and unit files leave optional
 * variables empty. A flag without a value is `true`.
 */
function firstGiven(sources: readonly (readonly [string, unknown])[]): readonly [string, string | undefined] {
  const source = sources.find(([, value]) => value === true || (typeof value === 'string' && value !== ''));
  return source === undefined ? ['', undefined] : [source[0], String(source[1])];
}

function parse(kind: Entry['kind'], text: string, spelling: string): unknown {
  switch (kind) {
    case 'text':
      return text;
    case 'list':
      return text
        .split(',')
        .map((part) => part.trim())
        .filter(Boolean);
    case 'number':
      if (!/^-?\d+(\.\d+)?$/.test(text.trim())) throw new OptionError(spelling, 'not a number');
      return Number(text);
    case 'flag':
      if (text !== 'true' && text !== 'false') throw new OptionError(spelling, 'neither true nor false');
      return text === 'true';
  }
}
