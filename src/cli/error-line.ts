/** An error as one line, without a stack trace. */

/** Characters that a terminal does not show, or that change how it shows the text after them. */
const INVISIBLE = /[\p{Control}\p{Format}\p{Line_Separator}\p{Paragraph_Separator}\p{Surrogate}]/gu;

/** Invisible characters are written as escapes: a message about `dd\n` that shows `dd` explains nothing. */
export function errorLine(text: string): string {
  return `signalbox: ${text.trim().replace(INVISIBLE, escaped)}\n`;
}

/** Errors of commander: without its prefix, with the suggestion on the same line, and without the value of an unknown flag. */
export function usageErrorLine(text: string): string {
  const message = text
    .replace(/^error: /, '')
    .replaceAll('\n(', ' (')
    // It may be a secret: --secrt=...
    .replace(/^(unknown option '--[^=']*)=.*'/s, "$1'")
    // -sx is -s with a value, if there is an -s.
    .replace(/^(unknown option '-[^-])[^']+'/s, "$1'");
  return errorLine(message);
}

const SHORT: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

const escaped = (character: string): string =>
  SHORT[character] ?? `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
