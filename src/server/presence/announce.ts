/** Tells sessions and nodes what a committed outcome means for them. Nothing else evicts or broadcasts. */

import type { NodeMessage } from '../../engine/engine.ts';
import { socketRoom } from '../../engine/socket-rooms.ts';
import type { NodeId } from '../../protocol/ids.ts';
import type { Evicted, RoomEvent } from '../../room/outcomes.ts';
import type { ServerContext } from '../context.ts';
import { clearSeat, replaceSession, roomEnded, unsubscribe } from './membership.ts';

type EvictedSession = Evicted & { readonly banned?: boolean };

interface Announcement {
  /** Sessions that have lost their seats by somebody else's doing. */
  readonly evicted?: readonly EvictedSession[];
  readonly events: readonly RoomEvent[];
}

/**
 * Evicted sessions first, then the members: a client that hears of a room's end has no seat in it any more, on whichever
 * node, so its next request is not answered by a room that is gone.
 */
export function announce(context: ServerContext, { evicted = [], events }: Announcement): void {
  notifyEvicted(context, evicted);
  broadcast(context, events);
}

/** Handles a message of another node. */
export function onNodeMessage(context: ServerContext, message: NodeMessage): void {
  if (message.kind === 'evicted') {
    for (const entry of message.evicted) evictLocally(context, entry);
    return;
  }
  const session = context.registry.get(message.userId);
  if (session !== undefined && session.number < message.session) replaceSession(context, session);
}

function notifyEvicted(context: ServerContext, evicted: readonly EvictedSession[]): void {
  const byNode = new Map<NodeId, EvictedSession[]>();
  for (const entry of evicted) {
    const entries = byNode.get(entry.nodeId) ?? [];
    byNode.set(entry.nodeId, [...entries, entry]);
  }
  for (const [nodeId, entries] of byNode) {
    if (nodeId === context.nodeId) for (const entry of entries) evictLocally(context, entry);
    else context.engine.fanout.send(nodeId, { kind: 'evicted', evicted: entries });
  }
}

function evictLocally(context: ServerContext, { userId, session: number, code, ref, reason, banned }: EvictedSession) {
  const session = context.registry.get(userId);
  if (session?.number !== number || session.seat?.ref !== ref) return;
  if (reason !== 'kicked' && reason !== 'lost') {
    roomEnded(context, session);
    return;
  }
  clearSeat(context, session);
  unsubscribe(session, ref);
  if (reason === 'lost') {
    session.drop();
    return;
  }
  session.push('session:kicked', { code, ref, banned: banned === true });
  session.end();
}

function broadcast({ io, log }: ServerContext, events: readonly RoomEvent[]): void {
  for (const { name, body } of events) {
    // One name picks one body: the compiler does not follow that through the union of events.
    io.to(socketRoom(body.ref)).emit(name, body as never);
    if (name === 'room:closed') log.info({ ref: body.ref, reason: body.reason }, 'a room has ended');
  }
}
