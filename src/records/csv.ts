/** Call records for spreadsheets: one line for each call. */
import type { Call } from './calls.ts';

type Cell = string | number | boolean | null;

/** Of the sessions it says how many: whoever writes a line need not hold them all. */
export type CountedCall = Omit<Call, 'sessions'> & { readonly sessions: { readonly length: number } };

const COLUMNS: Readonly<Record<string, (call: CountedCall) => Cell>> = {
  ref: ({ ref }) => ref,
  code: ({ code }) => code,
  type: ({ type }) => type,
  name: ({ name }) => name,
  created: ({ createdAt }) => instant(createdAt),
  ended: ({ endedAt }) => instant(endedAt),
  seconds: ({ createdAt, endedAt }) => (endedAt === null ? null : Math.round((endedAt - createdAt) / 1000)),
  reason: ({ reason }) => reason,
  host: ({ hostId }) => hostId,
  created_by: ({ createdBy }) => createdBy,
  peak_members: ({ peakMembers }) => peakMembers,
  total_members: ({ totalMembers }) => totalMembers,
  sessions: ({ sessions }) => sessions.length,
  signals: ({ signals }) => signals,
  complete: ({ complete }) => complete,
};

/** The line before the first call. Lines end as RFC 4180 has it. */
export const CSV_HEADER = `${Object.keys(COLUMNS).join(',')}\r\n`;

/** Instants are written as ISO 8601 in UTC; what is not known is empty. */
export const csvLineOf = (call: CountedCall): string =>
  `${Object.values(COLUMNS)
    .map((read) => written(read(call)))
    .join(',')}\r\n`;

const instant = (ms: number | null): string | null => (ms === null ? null : new Date(ms).toISOString());

function written(cell: Cell): string {
  if (typeof cell !== 'string') return cell === null ? '' : String(cell);
  // A spreadsheet would compute it, and a name is what a stranger has typed.
  const inert = /^[=+\-@\t\r\uff1d\uff0b\uff0d\uff20]/.test(cell) ? `'${cell}` : cell;
  return /[",\r\n]/.test(inert) ? `"${inert.replaceAll('"', '""')}"` : inert;
}
