/**
 * How deeply JSON text is nested and how many values it has, found without parsing it: parsing recurses once per level, and
 * allocates once per value.
 */
import { LIMITS } from '../../protocol/limits.ts';
import { COMMA, endOfString, isClosing, isOpening, QUOTE, SPACE } from './scan.ts';

/** What text has beside what the limits are for. */
export interface Envelope {
  /** Levels around `data` and `metadata`. */
  readonly depth: number;
  /** Values beside the payload. */
  readonly values: number;
}

/** @returns why JSON text must not be parsed, for its sender; `undefined` for text within the limits of the protocol. */
export function whyOutOfBounds(text: string, envelope: Envelope): string | undefined {
  const depth = LIMITS.depth + envelope.depth;
  const values = LIMITS.values + envelope.values;
  if (!mayExceed(text, depth, values)) return undefined;
  const exceeded = findExcess(text, depth, values);
  if (exceeded === undefined) return undefined;
  return exceeded === 'depth' ? `Nested deeper than ${LIMITS.depth}.` : `More than ${LIMITS.values} values.`;
}

/**
 * Quick searches settle most frames: each level has an opening bracket, each value but the first a comma or one before it.
 * A value and what stands before it are two characters, so short text is not searched for commas.
 */
function mayExceed(text: string, depth: number, values: number): boolean {
  const openings = count('{', text, values) + count('[', text, values);
  return openings > depth || (text.length > 2 * values && openings + count(',', text, values) >= values);
}

/** How often a character occurs, at most `max`. */
function count(character: string, text: string, max: number): number {
  let found = 0;
  for (let at = text.indexOf(character); at !== -1 && found < max; at = text.indexOf(character, at + 1)) found += 1;
  return found;
}

/**
 * Reads each character once, so its cost is bounded by the size of the text. In JSON, every value but the outermost comes
 * after a comma, or is the first of its array or object; of text that is no JSON, no parser reads more than was counted.
 */
function findExcess(text: string, maxDepth: number, maxValues: number): 'depth' | 'values' | undefined {
  let depth = 0;
  let values = 1;
  let opened = false;
  for (let at = 0; at < text.length; at += 1) {
    const character = text.charCodeAt(at);
    if (character <= SPACE) continue;
    const closing = isClosing(character);
    if (character === COMMA || (opened && !closing)) values += 1;
    opened = isOpening(character);
    if (opened) depth += 1;
    else if (closing) depth -= 1;
    else if (character === QUOTE) at = endOfString(text, at);
    if (depth > maxDepth) return 'depth';
    if (values > maxValues) return 'values';
  }
  return undefined;
}
