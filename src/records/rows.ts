/** A call and a seat of it, as they are kept: a line of the table each. Instants are milliseconds since 1970. */

import type { Row } from '../database/database.ts';
import { readNumber } from '../database/database.ts';
import type { CallSession } from './calls.ts';

export interface CallRow {
  readonly ref: string;
  readonly code: string;
  readonly type: string;
  readonly name: string | null;
  readonly createdAt: number;
  /** When it has ended at the latest. */
  readonly expiresAt: number;
  readonly endedAt: number | null;
  readonly reason: string | null;
  readonly hostId: string | null;
  readonly createdBy: string | null;
  /** Seats that are taken now. */
  readonly members: number;
  readonly peakMembers: number;
  readonly totalMembers: number;
  readonly complete: boolean;
  /** The last event that is in here, and when it was. */
  readonly rev: number;
  readonly lastAt: number;
  /** In which feed it stands. */
  readonly feed: string;
}

/** A session, and which call it belongs to. */
export interface SessionRow extends CallSession {
  readonly ref: string;
  /** When its call was created. */
  readonly calledAt: number;
}

export const CALL_COLUMNS =
  'ref, code, type, name, created_at, expires_at, ended_at, reason, host_id, created_by, members, peak_members, ' +
  'total_members, complete, rev, last_at, feed';
export const SESSION_COLUMNS = 'ref, seq, user_id, name, joined_at, left_at, reason, media_type, called_at';

/**
 * Of a call `c`: the greatest number that a session of it has, null where there is none. As many sessions at the most does
 * it have, which is known so without counting them.
 */
export const LAST_SEQ =
  '(SELECT n.seq FROM signalbox_sessions n WHERE n.ref = c.ref ORDER BY n.seq DESC LIMIT 1) AS last_seq';

/** In the order of {@link CALL_COLUMNS}. */
export const valuesOfCall = (call: CallRow) => [
  call.ref,
  call.code,
  call.type,
  call.name,
  call.createdAt,
  call.expiresAt,
  call.endedAt,
  call.reason,
  call.hostId,
  call.createdBy,
  call.members,
  call.peakMembers,
  call.totalMembers,
  call.complete ? 1 : 0,
  call.rev,
  call.lastAt,
  call.feed,
];

/** In the order of {@link SESSION_COLUMNS}. */
export const valuesOfSession = (session: SessionRow) => [
  session.ref,
  session.seq,
  session.userId,
  session.name,
  session.joinedAt,
  session.leftAt,
  session.reason,
  session.mediaType,
  session.calledAt,
];

export const readCall = (row: Row): CallRow => ({
  ref: text(row['ref']),
  code: text(row['code']),
  type: text(row['type']),
  name: textOrNull(row['name']),
  createdAt: readNumber(row['created_at']),
  expiresAt: readNumber(row['expires_at']),
  endedAt: numberOrNull(row['ended_at']),
  reason: textOrNull(row['reason']),
  hostId: textOrNull(row['host_id']),
  createdBy: textOrNull(row['created_by']),
  members: readNumber(row['members']),
  peakMembers: readNumber(row['peak_members']),
  totalMembers: readNumber(row['total_members']),
  complete: readNumber(row['complete']) === 1,
  rev: readNumber(row['rev']),
  lastAt: readNumber(row['last_at']),
  feed: text(row['feed']),
});

export const readSession = (row: Row): SessionRow => ({
  ref: text(row['ref']),
  userId: text(row['user_id']),
  name: textOrNull(row['name']),
  seq: readNumber(row['seq']),
  joinedAt: readNumber(row['joined_at']),
  leftAt: numberOrNull(row['left_at']),
  reason: textOrNull(row['reason']),
  mediaType: textOrNull(row['media_type']),
  calledAt: readNumber(row['called_at']),
});

function text(value: unknown): string {
  if (typeof value !== 'string') throw new TypeError('the database holds no such text');
  return value;
}

const textOrNull = (value: unknown): string | null => (value === null ? null : text(value));
const numberOrNull = (value: unknown): number | null => (value === null ? null : readNumber(value));
