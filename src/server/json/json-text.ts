/**
 * Opaque JSON as the text in which its sender wrote it. `data` of signals and messages is handed on so, on every path and
 * through every node: parsing and writing it again would change what it says (`1e400`, `9007199254740993`, keys that occur
 * twice) and would cost most of what a relay costs.
 */
import { z } from 'zod';
import { type Json, tooLarge } from '../../protocol/snapshot.ts';
import { endOfString, endOfValue, skipSpace } from './scan.ts';

/** A class, so that no value of a request can be mistaken for text that has been checked. */
export class JsonText {
  readonly text: string;
  private measured = -1;

  /** @param text has been parsed, so it is JSON. */
  constructor(text: string) {
    this.text = text;
  }

  /** In UTF-8, as it is sent. */
  get bytes(): number {
    if (this.measured < 0) this.measured = Buffer.byteLength(this.text);
    return this.measured;
  }

  /**
   * The size is that of the text. Where that is over the limit, white space and escapes do not count, because some languages
   * write them always; but text of more than six times the limit is too large, whatever it says: it is sent to many.
   */
  isWithin(maxBytes: number): boolean {
    // A UTF-16 unit is three bytes of UTF-8 at most.
    if (this.text.length * 3 <= maxBytes) return true;
    const { bytes } = this;
    if (bytes <= maxBytes) return true;
    return bytes <= MOST_PER_BYTE * maxBytes && Buffer.byteLength(JSON.stringify(JSON.parse(this.text))) <= maxBytes;
  }
}

/** A letter is one byte, and six as an escape: `\u0041`. */
const MOST_PER_BYTE = 6;

/** A payload as a program has it, with its opaque field as text. */
export type WithDataText<Payload> = Payload extends { readonly data: Json }
  ? Omit<Payload, 'data'> & { readonly data: JsonText }
  : Payload;

/** The schema of opaque data that a parser below has kept as text. */
export const jsonText = (maxBytes: number) =>
  z
    .custom<Json>((value: unknown) => value instanceof JsonText)
    // The type of what a program writes, until it is checked. Cast: it has just been.
    .transform((value: unknown) => value as JsonText)
    .refine((value) => value.isWithin(maxBytes), tooLarge(maxBytes));

/** A request as its REST body. @throws SyntaxError when the text is not JSON */
export function parseBody(text: string): unknown {
  const body: unknown = JSON.parse(text);
  keepDataText(body, text, 0);
  return body;
}

/** A request as an event, `["name",payload]`. @throws SyntaxError when the text is not JSON */
export function parseEvent(text: string): unknown {
  const event: unknown = JSON.parse(text);
  if (Array.isArray(event) && event.length > 1) {
    const name = skipSpace(text, skipSpace(text, 0) + 1);
    const comma = skipSpace(text, endOfValue(text, name));
    keepDataText(event[1], text, comma + 1);
  }
  return event;
}

/** Replaces `data` of a payload by its text. @param at where the payload begins in the text */
function keepDataText(payload: unknown, text: string, at: number): void {
  if (typeof payload !== 'object' || payload === null || !Object.hasOwn(payload, 'data')) return;
  const data = textOfMember(text, skipSpace(text, at), 'data');
  if (data !== undefined) Reflect.set(payload, 'data', new JsonText(data));
}

/** The value of a member of the object that begins at `start`; of members of one name the last, as in JSON.parse. */
function textOfMember(text: string, start: number, name: string): string | undefined {
  let found: string | undefined;
  let at = skipSpace(text, start + 1);
  while (text[at] === '"') {
    const end = endOfString(text, at) + 1;
    const key = text.slice(at, end);
    const value = skipSpace(text, skipSpace(text, end) + 1);
    const valueEnd = endOfValue(text, value);
    if (isName(key, name)) found = text.slice(value, valueEnd);
    // Behind the comma; behind the brace of the end there is no quote before the end of the payload.
    const next = skipSpace(text, valueEnd);
    if (text[next] !== ',') break;
    at = skipSpace(text, next + 1);
  }
  return found;
}

/** A key may be written with escapes. */
const isName = (key: string, name: string): boolean =>
  key === `"${name}"` || (key.includes('\\') && JSON.parse(key) === name);
