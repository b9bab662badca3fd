/** The rules of a user's record: which of its sessions is the current one, and in which room it has a seat. */
import type { NodeId, SessionNumber } from '../protocol/ids.ts';
import type { Arrive, Depart, Outcome, Touch, UserCommand } from './commands.ts';
import type { Policy, RoomKey } from './room.ts';

/** Expires `recordTtl` after it was last written. In Redis `nodeId` is stored as `serverId`, the seat as `currentRoom` and `ref`. */
export interface UserRecord {
  readonly session: SessionNumber;
  readonly nodeId: NodeId;
  readonly status: 'online' | 'away';
  readonly seat: RoomKey | null;
  readonly connectedAt: number;
  readonly lastActive: number;
  readonly name?: string;
  readonly mediaType?: string;
}

/** `record: null` deletes the record; `undefined` leaves it as it is. */
export interface UserRuleResult<C extends UserCommand> {
  readonly outcome: Outcome<C>;
  readonly record?: UserRecord | null;
}

/**
 * A new connection becomes the user's current session. Its number is the greater of the instant and the previous number
 * plus one: session numbers keep growing even after the record, and with it the previous number, has expired.
 */
export function arrive(record: UserRecord | undefined, command: Arrive, now: number): UserRuleResult<Arrive> {
  // Satisfies SessionNumber: greater than all earlier ones of this user.
  const session = Math.max(now, (record?.session ?? 0) + 1) as SessionNumber;
  const seat = record?.seat ?? null;
  const name = command.name ?? record?.name;
  return {
    outcome: {
      ok: true,
      session,
      connectedAt: now,
      seat,
      previous: record ? { session: record.session, nodeId: record.nodeId, online: record.status === 'online' } : null,
    },
    record: {
      session,
      nodeId: command.nodeId,
      status: 'online',
      seat,
      connectedAt: now,
      lastActive: now,
      ...(name !== undefined && { name }),
      ...(record?.mediaType !== undefined && { mediaType: record.mediaType }),
    },
  };
}

/** A record of an earlier session is one that the store has gone back to: it is replaced by what the node knows. */
export function touch(record: UserRecord | undefined, command: Touch, now: number): UserRuleResult<Touch> {
  if (record !== undefined && record.session > command.session)
    return { outcome: { ok: false, reason: 'SESSION_EXPIRED' } };
  const { session, nodeId, seat, connectedAt, name, mediaType } = command;
  return {
    outcome: { ok: true, now },
    record: {
      session,
      nodeId,
      status: 'online',
      seat,
      connectedAt,
      lastActive: now,
      ...(name !== undefined && { name }),
      ...(mediaType !== undefined && { mediaType }),
    },
  };
}

/**
 * The connection is gone. The record of a user with a seat is kept for its return, any other is deleted; but not before
 * the clock has passed the session number, which would otherwise be given to the next session too.
 */
export function depart(record: UserRecord | undefined, command: Depart, now: number): UserRuleResult<Depart> {
  if (record?.session !== command.session) return { outcome: { ok: false, reason: 'SESSION_EXPIRED' } };
  return {
    outcome: { ok: true },
    record: record.seat === null && record.session < now ? null : { ...record, status: 'away', lastActive: now },
  };
}

/** Time to live of a record, in milliseconds. The record of an away user outlives the grace of its seat. */
export const recordTtl = ({ status }: UserRecord, { leaseMs, graceMs }: Policy): number =>
  status === 'away' ? Math.max(leaseMs, graceMs) : leaseMs;
