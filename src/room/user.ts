/** The rules of a user's record: which of its sessions is the present one, and where it sits. */
import type { NodeId, RoomCode, RoomRef, SessionNumber } from '../protocol/ids.ts';
import type { Arrive, Depart, Touch } from './commands.ts';
import type { Outcome } from './outcomes.ts';
import type { Policy } from './room.ts';

/** The user hash. It outlives the last touch by `ttlMs`, no longer. */
export interface UserRecord {
  readonly session: SessionNumber;
  readonly nodeId: NodeId;
  readonly status: 'online' | 'away';
  readonly seat: { readonly code: RoomCode; readonly ref: RoomRef } | null;
  readonly connectedAt: number;
  readonly lastActive: number;
  readonly name?: string;
  readonly mediaType?: string;
}

/** `record: null` removes; `undefined` leaves it as it is. */
interface UserStep<C extends Arrive | Touch | Depart> {
  readonly outcome: Outcome<C>;
  readonly record?: UserRecord | null;
}

/**
 * A new connection of the user: the latest session. Numbers are instants where that is greater, so they keep growing
 * after a record has expired and needs no memory of those before it.
 */
export function arrive(record: UserRecord | undefined, command: Arrive, now: number): UserStep<Arrive> {
  // The brand's promise: greater than every number given to this user before.
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

export function touch(record: UserRecord | undefined, command: Touch, now: number): UserStep<Touch> {
  if (record !== undefined && record.session !== command.session)
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
 * The connection is gone. Who holds a seat may come back to it; of the others nothing is kept, once the clock has passed
 * their number: forgotten before, it would be given to the next session too.
 */
export function depart(record: UserRecord | undefined, command: Depart, now: number): UserStep<Depart> {
  if (record?.session !== command.session) return { outcome: { ok: false, reason: 'SESSION_EXPIRED' } };
  return {
    outcome: { ok: true },
    record: record.seat === null && record.session < now ? null : { ...record, status: 'away', lastActive: now },
  };
}

/** Milliseconds that a record is kept for after it was written. An away user's outlives the grace of its seat. */
export const recordTtl = ({ status }: UserRecord, { leaseMs, graceMs }: Policy): number =>
  status === 'away' ? Math.max(leaseMs, graceMs) : leaseMs;
