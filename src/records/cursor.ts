/** Where a page of calls ended: a place in their order, so that calls which are recorded meanwhile move nothing. */
import { CursorMalformed } from './calls.ts';

export interface Place {
  readonly createdAt: number;
  readonly ref: string;
}

export const writeCursor = ({ createdAt, ref }: Place): string =>
  Buffer.from(`${createdAt} ${ref}`).toString('base64url');

/** @throws CursorMalformed */
export function readCursor(cursor: string): Place {
  const [, createdAt, ref] = /^(\d{1,15}) ([\w-]{1,64})$/.exec(Buffer.from(cursor, 'base64url').toString()) ?? [];
  if (createdAt === undefined || ref === undefined) throw new CursorMalformed('no page has ended with this cursor');
  return { createdAt: Number(createdAt), ref };
}
