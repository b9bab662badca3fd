/** Options as flags and environment variables, derived from the table of options. */
import { Option } from 'commander';
import {
  OPTIONS,
  type OptionEntry,
  OptionError,
  type OptionName,
  type PartialOptions,
} from '../server/options/options.ts';
import { type Environment, readEnvironment } from './environment.ts';
import { fileVariableOf, flagOf, variableOf } from './option-spellings.ts';
import { readSecretFile } from './secret-file.ts';
import { readValue } from './values.ts';

const NAMES = Object.keys(OPTIONS) as OptionName[]; // the table's own keys
type Entry = (typeof OPTIONS)[OptionName];
const entryOf = (name: OptionName): OptionEntry => OPTIONS[name];

/** Flags with their help texts: meaning, default and variable. */
export function flags(): Option[] {
  return NAMES.map((name) => {
    const entry: Entry = OPTIONS[name];
    return new Option(`${flagOf(name)} ${PLACEHOLDERS[entry.kind]}`, `${entry.help} ${notes(name, entry)}`);
  });
}

const PLACEHOLDERS = {
  text: '<text>',
  number: '<number>',
  duration: '<ms|30s|5m|24h>',
  flag: '[true|false]',
  list: '<a,b,...>',
} as const;

function notes(name: OptionName, entry: Entry): string {
  const fallback = entry.schema.safeParse(undefined);
  const value = fallback.success ? fallback.data : undefined;
  const shown = value === undefined || (Array.isArray(value) && value.length === 0) ? '' : `default ${String(value)}; `;
  return `(${shown}${variablesOf(name, entry).join(' or ')})`;
}

/** The variables of an option, the first set one wins. */
export const variablesOf = (name: string, entry: OptionEntry): string[] => [
  variableOf(name),
  ...(entry.secret === true ? [fileVariableOf(name)] : []),
  ...(entry.env === undefined ? [] : [entry.env]),
];

export interface GivenOptions {
  readonly options: PartialOptions;
  /** The flag or variable from which each option has been read. */
  readonly sources: ReadonlyMap<string, string>;
  /** What an operator should know about variables that have no effect. */
  readonly notices: readonly string[];
}

/**
 * Reads options from parsed flags and the environment. Precedence: flags, SIGNALBOX_ variables, their files, plain variables.
 *
 * @param names of the options that are read. The names of all SIGNALBOX_ variables are checked in any case.
 * @throws OptionError for a malformed value, and for an unknown SIGNALBOX_ variable.
 */
export function readFlags(
  given: Readonly<Record<string, unknown>>,
  environment: Environment,
  names: readonly OptionName[] = NAMES,
): GivenOptions {
  const { texts, notices } = readEnvironment(environment, KNOWN);
  const sources = new Map<string, string>();
  const read = names.flatMap((name) => {
    const entry = entryOf(name);
    const found = flagGiven(name, given[name]) ?? variableGiven(name, entry, texts);
    if (found === undefined) return [];
    sources.set(name, found.spelling);
    return [[name, readValue(entry.kind, found.text, found.spelling)]];
  });
  return { options: Object.fromEntries(read), sources, notices: [...notices, ...withoutEffect(texts)] };
}

/** The variable of the command line itself. */
export const LOG_LEVEL = 'SIGNALBOX_LOG_LEVEL';

/** Variables of planned options: deployments may set them already, without effect. */
const RESERVED = ['socketsPerAddress', 'handshakesPerSecond', 'handshakesBurst'].map(variableOf);

const KNOWN = new Set([...NAMES.flatMap((name) => variablesOf(name, entryOf(name))), LOG_LEVEL, ...RESERVED]);

const withoutEffect = (texts: ReadonlyMap<string, string>): string[] =>
  RESERVED.filter((name) => texts.has(name)).map((name) => `${name} is set, and has no effect in this version`);

interface Given {
  readonly text: string;
  readonly spelling: string;
}

/** A flag without a value is `true`; one with an empty value counts as not given, as a variable does. */
function flagGiven(name: OptionName, value: unknown): Given | undefined {
  if (value === undefined || value === '') return undefined;
  const spelling = flagOf(name);
  const text = typeof value === 'string' ? value.trim() : 'true';
  if (text === '') throw new OptionError(spelling, 'there is nothing but white space in it');
  return { text, spelling };
}

function variableGiven(name: OptionName, entry: OptionEntry, texts: ReadonlyMap<string, string>): Given | undefined {
  const file = fileVariableOf(name);
  const path = entry.secret === true ? texts.get(file) : undefined;
  if (path !== undefined) {
    if (texts.has(variableOf(name)))
      throw new OptionError(file, `set together with ${variableOf(name)}: set one of them`);
    return { text: readSecretFile(path, file), spelling: file };
  }
  const spelling = variablesOf(name, entry).find((variable) => texts.has(variable));
  return spelling === undefined ? undefined : { text: texts.get(spelling) ?? '', spelling };
}
