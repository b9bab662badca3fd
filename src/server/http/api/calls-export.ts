/** Call records as files: all pages in one answer, written as fast as they are read and no faster. */
import { Readable } from 'node:stream';
import { CSV_HEADER, csvLineOf } from '../../../records/csv.ts';
import type { Call, CallChunk, CallQuery, CallRecords } from '../../../records/port.ts';
import { callJson } from './call-json.ts';
import type { OperationResult } from './operation.ts';

export type ExportFormat = 'csv' | 'ndjson';

interface Format {
  readonly type: string;
  readonly fileName: string;
  /** Before the first. */
  readonly head: string;
  readonly line: (call: Call) => string;
  /** Writes chunks in their order. */
  readonly writer: () => (chunk: CallChunk) => string;
}

/** End of a line, after the sessions. */
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
  const chunks = records.export(filter)[Symbol.asyncIterator]();
  const first = await chunks.next();
  const write = writer();
  const lines = async function* () {
    yield head;
    for (let next = first; next.done !== true; next = await chunks.next()) yield write(next.value);
  };
  return {
    ok: true,
    status: 200,
    headers: { 'content-disposition': `attachment; filename="${fileName}"` },
    stream: { type, content: Readable.from(lines(), { highWaterMark: 1 }) },
  };
}

function writeCsv(): (chunk: CallChunk) => string {
  /** Participants in earlier chunks of the same call. */
  let before = 0;
  return ({ calls, more }) => {
    const counted = calls.map((call) => ({ ...call, participants: { length: before + call.participants.length } }));
    before = more ? (counted.at(-1)?.participants.length ?? 0) : 0;
    return more ? '' : counted.map(csvLineOf).join('');
  };
}

function writeNdjson(): (chunk: CallChunk) => string {
  let isOpen = false;
  return ({ calls, more }) => {
    const wasOpen = isOpen;
    isOpen = more;
    const write = wasOpen ? furtherSessions : jsonLineOf;
    const text = calls.map(write).join('');
    return more ? text.slice(0, -JSON_END.length) : text;
  };
}

/** The sessions come last, so that those of a later chunk can be appended. */
function jsonLineOf(call: Call): string {
  return `${JSON.stringify(callJson(call))}
`;
}

const furtherSessions = ({ participants }: Call): string =>
  participants.map((participant) => `,${JSON.stringify(participant)}`).join('') + JSON_END;
