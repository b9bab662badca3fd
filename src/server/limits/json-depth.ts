/** How deeply JSON text is nested, found without parsing it: parsing and encoding recurse once per level. */

const QUOTE = 34;
const BACKSLASH = 92;
const OPENING_BRACKET = 91;
const CLOSING_BRACKET = 93;
const OPENING_BRACE = 123;
const CLOSING_BRACE = 125;

/** Whether JSON text nests deeper than `max`. Reads each character once, so its cost is bounded by the size of the text. */
export function isDeeperThan(max: number, text: string): boolean {
  // Text without that many opening brackets cannot nest that deep: two quick searches settle most frames.
  if (!hasMoreOpeningsThan(max, text)) return false;
  let depth = 0;
  for (let at = 0; at < text.length; at += 1) {
    const character = text.charCodeAt(at);
    if (character === QUOTE) at = endOfString(text, at);
    else if (character === OPENING_BRACKET || character === OPENING_BRACE) {
      depth += 1;
      if (depth > max) return true;
    } else if (character === CLOSING_BRACKET || character === CLOSING_BRACE) depth -= 1;
  }
  return false;
}

function hasMoreOpeningsThan(max: number, text: string): boolean {
  let openings = 0;
  for (const opening of ['{', '[']) {
    for (let at = text.indexOf(opening); at !== -1; at = text.indexOf(opening, at + 1)) {
      openings += 1;
      if (openings > max) return true;
    }
  }
  return false;
}

/** The index of the quote that ends the string which begins at `start`. */
function endOfString(text: string, start: number): number {
  let at = start + 1;
  while (at < text.length && text.charCodeAt(at) !== QUOTE) at += text.charCodeAt(at) === BACKSLASH ? 2 : 1;
  return at;
}
