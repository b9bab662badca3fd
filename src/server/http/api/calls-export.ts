/** Call records as files: all pages in one answer, written as fast as they are read and no faster. */
import { Readable } from 'node:stream';
import type { Call, CallQuery, CallRecords, Portion } from '../../../records/calls.ts';
import { CSV_HEADER, csvLineOf } from '../../../records/csv.ts';
import type { OperationResult } from './operation.ts';

export type ExportFormat = 'csv' | 'ndjson';

interface Format {
  readonly type: string;
  readonly fileName: string;
  /** Before the first. */
  readonly head: string;
  readonly line: (call: Call) => string;
  /** Writes portions, each after the one before. */
  readonly writer: () => (portion: Portion) => string;
}

/** Of a line: behind the sessions. */
const JSON_END = ']}\n';

export const EXPORTS: Readonly<Record<ExportFormat, Format>> = {
  csv: {
    type: 'text/csv; charset=utf-8',
    fileName: 'calls.csv',
    head: CSV_HEADER,
    line: csvLineOf,
    writer: writeCsv,
  },
  ndjson: {
    type: 'application/x-ndjson',
    fileName: 'calls.ndjson',
    head: '',
    line: jsonLineOf,
    writer: writeNdjson,
  },
};

/** @throws what the records throw, before anything is answered, when they do not give the first page. */
export async function exportOf(
  records: CallRecords,
  filter: Omit<CallQuery, 'limit'>,
  { type, fileName, head, writer }: Format,
): Promise<OperationResult<never>> {
  const portions = records.export(filter)[Symbol.asyncIterator]();
  const first = await portions.next();
  const write = writer();
  const lines = async function* () {
    yield head;
    for (let next = first; next.done !== true; next = await portions.next()) yield write(next.value);
  };
  return {
    ok: true,
    status: 200,
    headers: { 'content-disposition': `attachment; filename="${fileName}"` },
    stream: { type, content: Readable.from(lines(), { highWaterMark: 1 }) },
  };
}

function writeCsv(): (portion: Portion) => string {
  /** How many sessions there were of the call that goes on. */
  let before = 0;
  return ({ calls, goesOn }) => {
    const counted = calls.map((call) => ({ ...call, sessions: { length: before + call.sessions.length } }));
    before = goesOn ? (counted.at(-1)?.sessions.length ?? 0) : 0;
    return goesOn ? '' : counted.map(csvLineOf).join('');
  };
}

function writeNdjson(): (portion: Portion) => string {
  let isOpen = false;
  return ({ calls, goesOn }) => {
    const wasOpen = isOpen;
    isOpen = goesOn;
    const write = wasOpen ? furtherSessions : jsonLineOf;
    const text = calls.map(write).join('');
    return goesOn ? text.slice(0, -JSON_END.length) : text;
  };
}

/** The sessions stand last, so that more of them can follow. */
function jsonLineOf({ sessions, ...about }: Call): string {
  return `${JSON.stringify({ ...about, sessions })}\n`;
}

const furtherSessions = ({ sessions }: Call): string =>
  sessions.map((session) => `,${JSON.stringify(session)}`).join('') + JSON_END;
