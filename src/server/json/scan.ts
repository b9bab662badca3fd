/** Finds where values of JSON text end, without parsing them. By character codes: a regular expression for each is slower. */

export const QUOTE = 34;
export const COMMA = 44;
const BACKSLASH = 92;
export const SPACE = 32;
const OPENING_BRACKET = 91;
const CLOSING_BRACKET = 93;
const OPENING_BRACE = 123;
const CLOSING_BRACE = 125;

export const isOpening = (character: number): boolean => character === OPENING_BRACKET || character === OPENING_BRACE;
export const isClosing = (character: number): boolean => character === CLOSING_BRACKET || character === CLOSING_BRACE;

/** The index of the quote that ends the string which begins at `start`. */
export function endOfString(text: string, start: number): number {
  let at = start + 1;
  while (at < text.length && text.charCodeAt(at) !== QUOTE) at += text.charCodeAt(at) === BACKSLASH ? 2 : 1;
  return at;
}

/** The index of the first character at or behind `start` that is no white space. */
export function skipSpace(text: string, start: number): number {
  let at = start;
  while (at < text.length && text.charCodeAt(at) <= SPACE) at += 1;
  return at;
}

/** The index behind the value that begins at `start`, in text that is JSON. */
export function endOfValue(text: string, start: number): number {
  const first = text.charCodeAt(start);
  if (first === QUOTE) return endOfString(text, start) + 1;
  return isOpening(first) ? endOfNested(text, start) : endOfScalar(text, start);
}

function endOfNested(text: string, start: number): number {
  let depth = 0;
  for (let at = start; at < text.length; at += 1) {
    const character = text.charCodeAt(at);
    if (character === QUOTE) at = endOfString(text, at);
    else if (isOpening(character)) depth += 1;
    else if (isClosing(character)) depth -= 1;
    if (depth === 0) return at + 1;
  }
  return text.length;
}

function endOfScalar(text: string, start: number): number {
  for (let at = start; at < text.length; at += 1) {
    const character = text.charCodeAt(at);
    if (character <= SPACE || character === COMMA || isClosing(character)) return at;
  }
  return text.length;
}
