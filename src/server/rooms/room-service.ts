/**
 * What is done to a room, by a member with its seat or by the owner of the server: one function per operation, for the
 * sockets and the REST API alike. Each applies its command and announces the outcome; a refusal is returned as it is.
 */
import type { UserId } from '../../protocol/ids.ts';
import type { Close, Kick, Outcome, OwnerKey, RoomChanges, SeatChanges, SeatKey, Update } from '../../room/commands.ts';

import type { ServerContext } from '../context.ts';
import { announce } from '../presence/announce.ts';

type Actor = SeatKey | OwnerKey;

export function updateRoom(context: ServerContext, actor: Actor, changes: RoomChanges): Promise<Outcome<Update>> {
  return apply(context, { kind: 'update', ...actor, change: { subject: 'room', values: changes } });
}

/** Changes what the other members see of the member in this seat. */
export function updateProfile(context: ServerContext, seat: SeatKey, changes: SeatChanges): Promise<Outcome<Update>> {
  return apply(context, { kind: 'update', ...seat, change: { subject: 'seat', values: changes } });
}

/** @param ban whether the user may not join this room again. */
export async function kickMember(
  context: ServerContext,
  actor: Actor,
  target: UserId,
  ban: boolean,
): Promise<Outcome<Kick>> {
  const outcome = await context.engine.apply({ kind: 'kick', ...actor, target, ban });
  if (outcome.ok) {
    if (ban) context.registry.room(actor.ref)?.kept.learnBan(target);
    announce(context, { ...outcome, evicted: outcome.evicted.map((session) => ({ ...session, banned: ban })) });
  }
  return outcome;
}

export function closeRoom(context: ServerContext, actor: Actor): Promise<Outcome<Close>> {
  return apply(context, { kind: 'close', ...actor });
}

async function apply<C extends Update | Close>(context: ServerContext, command: C): Promise<Outcome<C>> {
  const outcome: Outcome<Update | Close> = await context.engine.apply(command);
  if (outcome.ok) announce(context, outcome);
  // The compiler does not narrow the outcome of a type parameter.
  return outcome as Outcome<C>;
}
