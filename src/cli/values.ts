/** Reads the text of a flag, a variable or a file as the value of an option. One set of spellings for all three. */
import { OptionError, type OptionKind } from '../server/options/options.ts';

/**
 * @param text without white space at its ends.
 * @param spelling of the flag or variable, for the error.
 * @throws OptionError
 */
export function readValue(kind: OptionKind, text: string, spelling: string): unknown {
  switch (kind) {
    case 'text':
      return text;
    case 'list':
      return entriesOf(text);
    case 'number':
      return readNumber(text, spelling);
    case 'duration':
      return readDuration(text, spelling);
    case 'flag':
      return readFlag(text, spelling);
  }
}

/** Separated by commas or line breaks. Empty entries are left out, because a variable within the list may be empty. */
const entriesOf = (text: string): string[] =>
  text
    .split(/[,\r\n]/)
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '');

/** Decimal digits only: `Number` would accept 0x10, 1e3, Infinity and the empty text as well. */
const DECIMAL = /^-?\d+(\.\d+)?$/;

function readNumber(text: string, spelling: string): number {
  if (!DECIMAL.test(text)) throw new OptionError(spelling, 'not a number: expected digits, such as 30000');
  return Number(text);
}

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

function readDuration(text: string, spelling: string): number {
  const [, digits = '', unit = 'ms'] = /^(.*\d)(ms|s|m|h|d)?$/.exec(text) ?? [];
  if (!DECIMAL.test(digits)) {
    throw new OptionError(
      spelling,
      'not a duration: expected milliseconds, or a number with a unit: 500ms, 30s, 5m, 24h, 7d',
    );
  }
  // 1.1 * 60_000 is not a whole number in binary floating point: what is below a thousandth of a millisecond is rounding.
  return Math.round(Number(digits) * (UNITS[unit] ?? 1) * 1000) / 1000;
}

const TRUE = new Set(['true', 'yes', 'on', '1']);
const FALSE = new Set(['false', 'no', 'off', '0']);

function readFlag(text: string, spelling: string): boolean {
  const word = text.toLowerCase();
  if (TRUE.has(word)) return true;
  if (FALSE.has(word)) return false;
  throw new OptionError(spelling, 'neither true nor false: expected true, yes, on, 1, false, no, off or 0');
}
