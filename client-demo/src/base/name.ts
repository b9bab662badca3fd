/** A name as people type or paste it, made into one that the others can read and the server takes. */

/** Code points. */
const MAX_CHARACTERS = 64;
/** Without width, or turning the direction of whatever comes after them. */
const INVISIBLE = /[\u00ad\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff]/gu;
/** What joins or parts two characters is of use only between them: in Persian words, and in pictures of families. */
const LOOSE_JOINERS =
  /(?<![\p{Letter}\p{Mark}\p{Emoji}])[\u200c\u200d]+|[\u200c\u200d]+(?![\p{Letter}\p{Mark}\p{Emoji}])/gu;
const VISIBLE = /[^\p{Separator}\p{Control}\p{Format}\p{Unassigned}\p{Default_Ignorable_Code_Point}\p{Mark}\u2800]/u;

/** Null when nothing is left of it that can be seen. */
export function nameIn(typed: string): string | null {
  const readable = typed
    .toWellFormed()
    .replace(/\p{Control}+/gu, ' ')
    .replace(INVISIBLE, '')
    .replace(LOOSE_JOINERS, '')
    .trim();
  const name = Array.from(readable).slice(0, MAX_CHARACTERS).join('').trim();
  return VISIBLE.test(name) ? name : null;
}
