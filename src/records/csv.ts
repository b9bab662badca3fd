/** Call records as CSV for spreadsheets: one line per call. */
import type { Call } from './port.ts';

type Cell = string | number | boolean | null;

/** A call with the number of its participants: a writer need not hold all of them in memory. */
export type CountedCall = Omit<Call, 'participants'> & { readonly participants: { readonly length: number } };

const COLUMNS: Readonly<Record<string, (call: CountedCall) => Cell>> = {
  ref: ({ ref }) => ref,
  code: ({ code }) => code,
  type: ({ type }) => type,
  name: ({ name }) => name,
  created: ({ createdAt }) => instant(createdAt),
  ended: ({ endedAt }) => instant(endedAt),
  seconds: ({ createdAt, endedAt }) =>
    endedAt === null ? null : Math.max(0, Math.round((endedAt - createdAt) / 1000)),
  reason: ({ reason }) => reason,
  host: ({ hostId }) => hostId,
  created_by: ({ createdBy }) => createdBy,
  peak_members: ({ peakMembers }) => peakMembers,
  total_members: ({ totalMembers }) => totalMembers,
  sessions: ({ participants }) => participants.length,
  signals: ({ signals }) => signals,
  complete: ({ complete }) => complete,
};

/** The header line. Lines end with CR LF, as RFC 4180 requires. */
export const CSV_HEADER = `${Object.keys(COLUMNS).join(',')}\r\n`;

/** Instants are ISO 8601 in UTC; null is an empty cell. */
export const csvLineOf = (call: CountedCall): string =>
  `${Object.values(COLUMNS)
    .map((read) => quoted(read(call)))
    .join(',')}\r\n`;

const instant = (ms: number | null): string | null => (ms === null ? null : new Date(ms).toISOString());

/**
 * Formula injection: a spreadsheet evaluates a cell that begins like a formula, and names are user input. Which character
 * separates cells depends on the spreadsheet's language, so text after any of them may become a cell, and a `'` makes it
 * plain. White space, invisible characters and quotes are skipped before a formula; East Asian versions read wide signs.
 */
const BEFORE_FORMULA =
  /(?<=^|[;,|\t\n]|\r(?!\n))(?=[\s\p{Cc}\p{Cf}"]*[=+\-@|%\u2212\ufe62\ufe63\ufe66\ufe6a\ufe6b＝＋－＠｜％])/gu;
/** RFC 4180 wants quotes for comma, quote and line break; the others separate cells in some spreadsheets. */
const QUOTED = /[",;|\t\r\n]/;

function quoted(cell: Cell): string {
  if (typeof cell !== 'string') return cell === null ? '' : String(cell);
  const inert = cell.replaceAll(BEFORE_FORMULA, "'");
  return QUOTED.test(inert) ? `"${inert.replaceAll('"', '""')}"` : inert;
}
