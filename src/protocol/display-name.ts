/**
 * The rule for every name that people see, of users and of rooms: what is stored is shown, and nothing else. By properties of
 * Unicode, and without zod, because the demo page cleans typed names by the same rule.
 */
import { LIMITS } from './limits.ts';

/** Scripts whose letters change their form beside a joiner (U+200C, U+200D): Persian words, Indic conjuncts. */
const JOINING = ['Arab', 'Syrc', 'Mand', 'Nkoo', 'Mong', 'Phag', 'Adlm', 'Rohg', 'Deva', 'Beng', 'Guru', 'Gujr', 'Orya']
  .concat(['Taml', 'Telu', 'Knda', 'Mlym', 'Sinh', 'Mymr', 'Khmr', 'Java', 'Bali', 'Newa', 'Gran'])
  .map((script) => `\\p{Script_Extensions=${script}}`)
  .join('');
const LETTER = '[\\p{Letter}\\p{Mark}]';
/** Viramas: a joiner behind one may end a word (the older spelling of chillu letters and of khanda ta). */
const VIRAMA = '[\\u094d\\u09cd\\u0a4d\\u0acd\\u0b4d\\u0bcd\\u0c4d\\u0ccd\\u0d4d\\u0dca]';
const PICTOGRAPH = '\\p{Extended_Pictographic}';
/** England, Scotland, Wales: the tag sequences that fonts know. Others show a black flag and hide a text. */
const FLAG_TAGS = ['gbeng', 'gbsct', 'gbwls'].map(
  (region) => Array.from(region, (letter) => tag(letter.charCodeAt(0))).join('') + tag(0x7f),
);

/** Invisible characters with a visible effect, in the places where they have one. */
const ALLOWED = [
  `(?<=[${JOINING}])(?<=${LETTER})[\\u200c\\u200d](?=[${JOINING}])(?=${LETTER})`,
  `(?<=${VIRAMA})[\\u200c\\u200d](?!\\p{Format})`,
  // Families and professions. A skin tone or U+FE0F may stand before the joiner.
  `(?<=${PICTOGRAPH}[\\ufe0f\\p{Emoji_Modifier}]?)\\u200d(?=${PICTOGRAPH})`,
  `(?<=${PICTOGRAPH})[\\ufe0e\\ufe0f]`,
  '(?<=[0-9#*])\\ufe0f(?=\\u20e3)',
  // Variants of ideographs, as Japanese names have, and of Mongolian and Burmese letters.
  '(?<=\\p{Script=Han})[\\ufe00-\\ufe02\\u{e0100}-\\u{e01ef}]',
  // One for each letter: it changes its form, and a second one would be invisible.
  '(?<=\\p{Script=Mongolian})(?<=\\p{Letter})[\\u180b-\\u180f](?!\\p{Format})',
  '(?<=\\p{Script=Myanmar})\\ufe00',
  ...FLAG_TAGS.map((tags) => `(?<=\\u{1f3f4})${tags}`),
].join('|');

/** Blank although they count as letters or symbols. */
const BLANK = '\\u2800\\ufffc\\u{13441}\\u{13442}\\u{1d159}';
const REFUSED =
  `[\\p{Control}\\p{Format}\\p{Line_Separator}\\p{Paragraph_Separator}\\p{Surrogate}\\p{Private_Use}` +
  `\\p{Default_Ignorable_Code_Point}${BLANK}]|(?!${PICTOGRAPH})\\p{Unassigned}`;
/** Matches an allowed sequence as the first group, or one refused character. */
const allowedOrRefused = (): RegExp => new RegExp(`(${ALLOWED})|${REFUSED}`, 'gu');

/** Marks on one letter: four over or below it, six of all kinds. Burmese needs five. */
const TOO_MANY_MARKS = /(?:\p{Spacing_Mark}*[\p{Nonspacing_Mark}\p{Enclosing_Mark}]){5}|\p{Mark}{7}/u;
/** A mark without a letter stands on whatever is shown before the name. */
const LOOSE_MARK = /(?:^|\p{Separator})\p{Mark}/u;
const VISIBLE = /[\p{Letter}\p{Number}\p{Punctuation}\p{Symbol}\p{Extended_Pictographic}]/u;

/** Why a name is refused; undefined when it is not. White space at its ends has been cut off. */
export function nameProblem(name: string): string | undefined {
  if (name === '' || Array.from(name).length > LIMITS.nameLength) return `1 to ${LIMITS.nameLength} characters`;
  for (const [, allowed] of name.matchAll(allowedOrRefused()))
    if (allowed === undefined) return 'no control characters, and none that are invisible';
  if (!VISIBLE.test(name)) return 'something to see';
  // Taken apart first: ế has two marks already.
  const marks = name.normalize('NFD');
  return TOO_MANY_MARKS.test(marks) || LOOSE_MARK.test(marks)
    ? 'at most four marks on a letter, and none alone'
    : undefined;
}

/** A typed or pasted text as a name by the same rule; null when nothing is left. */
export function cleanName(typed: string): string | null {
  const readable = typed.toWellFormed().replace(/[\p{Control}\p{Line_Separator}\p{Paragraph_Separator}]+/gu, ' ');
  const shown = withoutInvisible(readable)
    .replace(/(\p{Mark}{3})\p{Mark}+/gu, '$1')
    .replace(/(^|\p{Separator})\p{Mark}+/gu, '$1');
  // Cut, and cleaned once more: the end may have cut a sequence in two.
  const cut = Array.from(shown.trim()).slice(0, LIMITS.nameLength).join('');
  const name = withoutInvisible(cut).trim();
  return nameProblem(name) === undefined ? name : null;
}

const withoutInvisible = (text: string): string =>
  text.replace(allowedOrRefused(), (_match, allowed: string | undefined) => allowed ?? '');

function tag(code: number): string {
  return `\\u{${(0xe0000 + code).toString(16)}}`;
}
