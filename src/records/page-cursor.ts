/** Page cursor: the sort key of the last call of a page, so that calls recorded meanwhile do not shift the next page. */
import { CursorMalformed } from './port.ts';

export interface PageCursor {
  readonly createdAt: number;
  readonly ref: string;
}

export const writeCursor = ({ createdAt, ref }: PageCursor): string =>
  Buffer.from(`${createdAt} ${ref}`).toString('base64url');

/** @throws CursorMalformed */
export function readCursor(cursor: string): PageCursor {
  const [, createdAt, ref] = /^(\d{1,15}) ([\w-]{1,64})$/.exec(Buffer.from(cursor, 'base64url').toString()) ?? [];
  if (createdAt === undefined || ref === undefined) throw new CursorMalformed('not the cursor of a page of calls');
  return { createdAt: Number(createdAt), ref };
}
