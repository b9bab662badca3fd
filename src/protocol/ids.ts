/**
 * The types of ids. Branded, so that a code cannot be passed where a ref is expected: a signal that is addressed by code could
 * reach a later room of that code.
 */

declare const brand: unique symbol;
type Branded<Base, Name extends string> = Base & { readonly [brand]: Name };

/** The digits people type, `^[1-9]\d{5}$` by default. A lease on a name, recycled; a locator, never a credential. */
export type RoomCode = Branded<string, 'RoomCode'>;
/** The identity of a room, never reused. Compare refs, not codes, to be sure that it is the same room. */
export type RoomRef = Branded<string, 'RoomRef'>;
/** An identity: a token's `sub`, or given by the server to an anonymous client. */
export type UserId = Branded<string, 'UserId'>;
/** One Signalbox process. */
export type NodeId = Branded<string, 'NodeId'>;
/** One connection lifetime of a user. Greater means later; late writes of a lesser one are refused. */
export type SessionNumber = Branded<number, 'SessionNumber'>;

export const DEFAULT_CODE_DIGITS = 6;
export const MAX_CODE_DIGITS = 8;

/** Any code length a server may be configured for; the server itself compares with the length it hands out. */
export const ROOM_CODE_PATTERN = /^[1-9]\d{5,7}$/;
export const ROOM_REF_PATTERN = /^[A-Z]{3}\d{12,40}$/;
/** No spaces: a user id is part of a sorted-set member `<code> <userId>`. */
export const USER_ID_PATTERN = /^[A-Za-z0-9_-]{1,64}$/;
export const NODE_ID_PATTERN = /^[A-Za-z0-9_-]{1,64}$/;

/**
 * Reads a code the way people type it: spaces, dashes and dots between the digits, full-width digits from an East
 * Asian keyboard, Arabic-Indic and Persian digits. On the wire a code is ASCII digits only; call this before sending.
 *
 * @returns the code, or `undefined` when what was typed is not one.
 */
export function normaliseTypedCode(typed: string, digits = DEFAULT_CODE_DIGITS): RoomCode | undefined {
  let code = '';
  for (const character of typed) {
    if (SEPARATOR.test(character)) continue;
    const digit = decimalDigit(character);
    if (digit === undefined) return undefined;
    code += digit;
  }
  // The pattern and the length are what the brand promises.
  return code.length === digits && ROOM_CODE_PATTERN.test(code) ? (code as RoomCode) : undefined;
}

const SEPARATOR = /[\s\p{Dash_Punctuation}._\u200e\u200f\u00b7]/u;
const DECIMAL_DIGIT = /\p{Decimal_Number}/u;

/**
 * Unicode lays out the ten decimal digits of a script in one run from 0 to 9, so the digit is the distance to the run's
 * start. Some runs follow one upon the other, such as those of mathematical styles.
 */
function decimalDigit(character: string): number | undefined {
  if (!DECIMAL_DIGIT.test(character)) return undefined;
  const point = character.codePointAt(0) ?? 0;
  let start = point;
  while (DECIMAL_DIGIT.test(String.fromCodePoint(start - 1))) start -= 1;
  return (point - start) % 10;
}
