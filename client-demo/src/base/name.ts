/** Cleans a typed or pasted name: readable for others and valid for the server. */

/** Code points. */
const MAX_CHARACTERS = 64;
/** Characters without width, and those that change the direction of the text after them. */
const INVISIBLE = /[\u00ad\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff]/gu;
/** Joiners are allowed between two characters only: in Persian words, and in emoji of families. */
const LOOSE_JOINERS =
  /(?<![\p{Letter}\p{Mark}\p{Emoji}])[\u200c\u200d]+|[\u200c\u200d]+(?![\p{Letter}\p{Mark}\p{Emoji}])/gu;
const VISIBLE = /[^\p{Separator}\p{Control}\p{Format}\p{Unassigned}\p{Default_Ignorable_Code_Point}\p{Mark}\u2800]/u;

/** Null if nothing visible is left. */
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
