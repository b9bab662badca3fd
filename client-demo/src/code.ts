/** How a room code is read from what people type, paste or open, and how it is shown to them. */
import { normaliseTypedCode, type RoomCode } from '../../src/protocol/index.ts';

/** Two groups are read out and remembered more easily than six digits in a row. */
export function grouped(code: string): string {
  const half = Math.floor(code.length / 2);
  return `${code.slice(0, half)} ${code.slice(half)}`;
}

/** A code as typed, or the link that holds one: both get pasted into the same field. */
export function typedCode(typed: string, digits: number): RoomCode | undefined {
  return normaliseTypedCode(typed.slice(typed.lastIndexOf('#') + 1), digits);
}

/** The code stands behind the `#`: browsers do not send that part to any server, so it is in nobody's access log. */
export function linkTo(code: RoomCode): string {
  const { origin, pathname } = window.location;
  return `${origin}${pathname}#${code}`;
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
