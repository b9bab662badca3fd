/** Call records as files: all pages in one answer, written as fast as they are read and no faster. */
import { Readable } from 'node:stream';
import type { Call, CallQuery, CallRecords } from '../../../records/calls.ts';
import { CSV_HEADER, csvLineOf } from '../../../records/csv.ts';
import type { Done } from './operation.ts';

export type ExportFormat = 'csv' | 'ndjson';

interface Format {
  readonly type: string;
  readonly fileName: string;
  /** Before the first. */
  readonly head: string;
  readonly line: (call: Call) => string;
}

/** Calls that are held at a time. */
const PAGE = 200;

export const EXPORTS: Readonly<Record<ExportFormat, Format>> = {
  csv: {
    type: 'text/csv; charset=utf-8',
    fileName: 'calls.csv',
    head: CSV_HEADER,
    line: csvLineOf,
  },
  ndjson: {
    type: 'application/x-ndjson',
    fileName: 'calls.ndjson',
    head: '',
    line: (call) => `${JSON.stringify(call)}\n`,
  },
};

/** @throws what the records throw, before anything is answered, when they do not give the first page. */
export async function exportOf(
  records: CallRecords,
  filter: Omit<CallQuery, 'limit'>,
  { type, fileName, head, line }: Format,
): Promise<Done<never>> {
  let page = await records.list({ ...filter, limit: PAGE });
  const lines = async function* () {
    yield head;
    for (;;) {
      yield page.calls.map(line).join('');
      if (page.cursor === null) return;
      page = await records.list({ ...filter, cursor: page.cursor, limit: PAGE });
    }
  };
  return {
    ok: true,
    status: 200,
    headers: { 'content-disposition': `attachment; filename="${fileName}"` },
    stream: { type, content: Readable.from(lines(), { highWaterMark: 1 }) },
  };
}
