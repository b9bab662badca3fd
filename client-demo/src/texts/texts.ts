/** The texts in the first of the browser's languages that this page has, else in English. */
import { SignalboxError } from '../../../src/client/index.ts';
import { en, type Texts } from './en.ts';
import { zh } from './zh.ts';

const LANGUAGES: readonly Texts[] = [en, zh];

export const texts: Texts = spokenHere(navigator.languages);

/** `zh-CN`, `zh-Hant-TW` and `zh` are one language here, as are `en-GB` and `en`. */
function spokenHere(wanted: readonly string[]): Texts {
  for (const tag of wanted) {
    const found = LANGUAGES.find(({ lang }) => base(lang) === base(tag));
    if (found !== undefined) return found;
  }
  return en;
}

function base(tag: string): string {
  return tag.toLowerCase().split('-')[0] ?? '';
}

/** The text for an error: the reason, and what to do. */
export function failureText({ code, retryAfterMs }: SignalboxError): string {
  return texts.errors[code](retryAfterMs === undefined ? undefined : texts.duration(retryAfterMs));
}

/** The same for any exception; the SDK rejects with SignalboxErrors only. */
export const thrownText = (thrown: unknown): string =>
  thrown instanceof SignalboxError ? failureText(thrown) : texts.errors.INTERNAL();

/** Whether another code may succeed. */
export const isOfCode = (thrown: unknown): boolean =>
  thrown instanceof SignalboxError && (thrown.code === 'ROOM_NOT_FOUND' || thrown.code === 'CODE_EXPIRED');

const graphemes = new Intl.Segmenter();

/** Initials, for a tile without video. */
export function initialsOf(name: string): string {
  const words = name.split(/\s+/u).slice(0, 2);
  const letters = words.map((word) => calm([...graphemes.segment(word)][0]?.segment ?? ''));
  return letters.join('').toLocaleUpperCase(texts.lang);
}

/** A character may have any number of accents; two are enough for every language. */
const calm = (letter: string): string =>
  letter.normalize('NFC').replace(/(\p{Nonspacing_Mark}{2})\p{Nonspacing_Mark}+/gu, '$1');
