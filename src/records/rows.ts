/** Rows of the tables of calls and participants, and their columns. Instants are milliseconds since 1970. */

import { type Row, readNumber } from '../database/database.ts';
import type { CallParticipant } from './port.ts';

export interface CallRow {
  readonly ref: string;
  readonly code: string;
  readonly type: string;
  readonly name: string | null;
  readonly createdAt: number;
  /** Latest possible end. */
  readonly expiresAt: number;
  readonly endedAt: number | null;
  readonly reason: string | null;
  readonly hostId: string | null;
  readonly createdBy: string | null;
  /** Present members. */
  readonly members: number;
  readonly peakMembers: number;
  readonly totalMembers: number;
  readonly complete: boolean;
  /** Revision and timestamp of the last event in this record. */
  readonly rev: number;
  readonly lastAt: number;
  /** Name of the feed that the event came from. */
  readonly feed: string;
}

/** A participant and the call it belongs to. */
export interface ParticipantRow extends CallParticipant {
  readonly ref: string;
  /** Creation instant of the call, repeated here for the index by user. */
  readonly calledAt: number;
}

export const CALL_COLUMNS =
  'ref, code, type, name, created_at, expires_at, ended_at, reason, host_id, created_by, members, peak_members, ' +
  'total_members, complete, rev, last_at, feed';
export const PARTICIPANT_COLUMNS = 'ref, seq, user_id, name, joined_at, left_at, reason, media_type, called_at';

/** Highest seq of a participant in call `c`, null without any: an upper bound of their number. */
export const LAST_SEQ =
  '(SELECT n.seq FROM signalbox_participants n WHERE n.ref = c.ref ORDER BY n.seq DESC LIMIT 1) AS last_seq';

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

/** In the order of {@link PARTICIPANT_COLUMNS}. */
export const valuesOfParticipant = (participant: ParticipantRow) => [
  participant.ref,
  participant.seq,
  participant.userId,
  participant.name,
  participant.joinedAt,
  participant.leftAt,
  participant.reason,
  participant.mediaType,
  participant.calledAt,
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

export const readParticipant = (row: Row): ParticipantRow => ({
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
