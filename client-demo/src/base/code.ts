/** Reads room codes from typed or pasted text and from links, and formats them. */
import { normaliseTypedCode, type RoomCode } from '../../../src/client/index.ts';

/** In two groups, which are easier to read out and to remember. */
export function grouped(code: string): string {
  const half = groupLength(code.length);
  return `${code.slice(0, half)} ${code.slice(half)}`;
}

export const groupLength = (digits: number): number => Math.floor(digits / 2);

/** Digits of any script, with separators. */
const NUMBER = /\p{Decimal_Number}[\p{Decimal_Number}\s\p{Dash_Punctuation}._·]*/gu;

/** The code in a text: typed, behind the `#` of a link, or anywhere in a pasted message. */
export function codeIn(text: string, digits: number): RoomCode | undefined {
  const behindHash = text.slice(text.lastIndexOf('#') + 1);
  return [behindHash, ...(text.match(NUMBER) ?? [])].reduce<RoomCode | undefined>(
    (found, part) => found ?? normaliseTypedCode(part, digits),
    undefined,
  );
}

/** All digits of a text, of any script, as 0 to 9. */
export const digitsIn = (text: string): string => Array.from(text, digitOf).join('');

/** The SDK reads whole codes of six digits, so a single one is read as the last of a code. */
const digitOf = (character: string): string => normaliseTypedCode(`10000${character}`, 6)?.at(-1) ?? '';

/** The code is behind the `#`: browsers do not send that part to a server, so it is in no access log. */
export function linkTo(code: RoomCode): string {
  const { origin, pathname } = window.location;
  return `${origin}${pathname}#${code}`;
}

/** Whether the host of this page is the device itself: on another device, a link would lead to that device. */
export function isLocal(): boolean {
  return /^(?:(?:.+\.)?localhost|127(?:\.\d+){3}|\[::1\])$/.test(window.location.hostname);
}

export function codeOfAddress(digits: number): RoomCode | undefined {
  const { hash } = window.location;
  try {
    return hash === '' ? undefined : normaliseTypedCode(decodeURIComponent(hash.slice(1)), digits);
  } catch {
    return undefined; // a broken percent sign
  }
}

/** Replaces the address without a new entry in the history: "back" should leave the page, not walk through calls. */
export function showInAddress(code: RoomCode | null): void {
  const { pathname, search } = window.location;
  window.history.replaceState(null, '', `${pathname}${search}${code === null ? '' : `#${code}`}`);
}
