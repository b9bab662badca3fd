/** Exports call records as one streamed file: records are read from the store only as fast as the client reads. */
import { Readable } from 'node:stream';
import { CSV_HEADER, csvLineOf } from '../../../records/csv.ts';
import type { Call, CallChunk, CallQuery, CallRecords } from '../../../records/port.ts';
import { callJson } from './call-json.ts';
import type { OperationResult } from './operation.ts';

export type ExportFormat = 'csv' | 'ndjson';

interface Format {
  readonly type: string;
  readonly fileName: string;
  /** Text before the first record. */
  readonly head: string;
  readonly line: (call: Call) => string;
  /** Creates a writer, which is called with the chunks in order. */
  readonly writer: () => (chunk: CallChunk) => string;
}

/** End of a line: closes the array `sessions` and the object. */
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

/** @throws errors of the first read, so that they become a status and not a cut-off response. */
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
  const content = Readable.from(lines(), { highWaterMark: 1 });
  // A client that goes away leaves the records in the middle, or before their second portion: they are told to end too.
  content.once('close', () => void chunks.return?.().catch(() => undefined));
  return {
    ok: true,
    status: 200,
    headers: { 'content-disposition': `attachment; filename="${fileName}"` },
    stream: { type, content },
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
    const write = wasOpen ? continuedSessions : jsonLineOf;
    const text = calls.map(write).join('');
    return more ? text.slice(0, -JSON_END.length) : text;
  };
}

/** The field `sessions` comes last, so that a later chunk of the same call can be appended to it. */
function jsonLineOf(call: Call): string {
  return `${JSON.stringify(callJson(call))}\n`;
}

const continuedSessions = ({ participants }: Call): string =>
  participants.map((participant) => `,${JSON.stringify(participant)}`).join('') + JSON_END;
