/**
 * The check of every text option, also of those that a program passes: what nobody sees in a file or a variable must not become
 * part of a secret or of a path. A token with a line end behind it would be accepted at the start and then match no request.
 */

/**
 * Why a text cannot be the value of an option; undefined when it can. Names the character and its place, and nothing else of
 * the text, which may be a secret.
 *
 * @param isSecret a secret has no invisible character at all; a path may contain joiners, which some scripts need.
 */
export function textProblem(text: string, isSecret: boolean): string | undefined {
  const { index, 0: character } = (isSecret ? INVISIBLE : UNUSABLE).exec(text) ?? AT_THE_ENDS.exec(text) ?? {};
  if (index === undefined || character === undefined) return undefined;
  const place = index === 0 ? 'at its beginning' : index + character.length === text.length ? 'at its end' : 'in it';
  return `has ${nameOf(character)} ${place}`;
}

const UNUSABLE = /[\p{Control}\p{Line_Separator}\p{Paragraph_Separator}\p{Surrogate}]/u;
const INVISIBLE = /(?! )[\p{Control}\p{Separator}\p{Format}\p{Surrogate}\p{Default_Ignorable_Code_Point}\u2800]/u;
const AT_THE_ENDS = /^[\s\p{Format}]|[\s\p{Format}]$/u;

function nameOf(character: string): string {
  const code = (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
  return `${NAMES[character] ?? 'an invisible character'} (U+${code})`;
}

const NAMES: Readonly<Record<string, string>> = {
  ' ': 'a blank',
  '\t': 'a tab',
  '\n': 'a line feed',
  '\r': 'a carriage return',
  '\u00a0': 'a no-break space',
  '\ufeff': 'a byte order mark',
};
