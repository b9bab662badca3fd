/** What a shard refuses while it recovers: what could only be right if nothing had been lost. */
import type { ErrorCode } from '../protocol/errors.ts';
import type { ShardCommand } from './commands.ts';

/** In place of an outcome: the command has had no effect, and can be repeated after so long. */
export interface Recovering {
  readonly recoveringMs: number;
}

/**
 * Not done at all. A code that seems free may have a room, the host may be another one, the settings newer; and a room that
 * not all nodes have restored yet would be read without some of its members.
 */
export const DEFERRED: ReadonlySet<ShardCommand['kind']> = new Set(['create', 'update', 'kick', 'close', 'read']);

/** These may rest on what is missing or old. */
export const DOUBTFUL: ReadonlySet<string> = new Set<ErrorCode>([
  'ROOM_NOT_FOUND',
  'CODE_EXPIRED',
  'NOT_IN_ROOM',
  'SESSION_EXPIRED',
  'PEER_NOT_FOUND',
]);

export const isDeferred = ({ kind }: ShardCommand): boolean => DEFERRED.has(kind);

/** A restore is what is waited for: its refusals are final. */
export const isRefusedMeanwhile = (
  { kind }: ShardCommand,
  outcome: { readonly ok: boolean; readonly reason?: string },
): boolean => kind !== 'restore' && !outcome.ok && outcome.reason !== undefined && DOUBTFUL.has(outcome.reason);
