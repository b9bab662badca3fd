/** Tells sessions and nodes what a committed outcome means for them. Nothing else evicts or broadcasts. */

import { socketRoom } from '../../engine/socket-rooms.ts';
import type { NodeId } from '../../protocol/ids.ts';
import type { RoomEvent } from '../../room/outcomes.ts';
import type { ServerContext } from '../context.ts';
import { ENVELOPE_BYTES } from '../limits/prices.ts';
import { type EvictedSession, evictSession } from './evict-session.ts';
import { learnEvent } from './learn-event.ts';
import { chargeTraffic } from './traffic.ts';

interface Announcement {
  /** Sessions whose seats the command has taken away. */
  readonly evicted?: readonly EvictedSession[];
  readonly events: readonly RoomEvent[];
}

/**
 * Evicted sessions first, then the members: a client of this node that hears of its room's end has no seat in it any more.
 * Clients of other nodes may hear of it in either order, because the two messages travel on different channels.
 */
export function announce(context: ServerContext, { evicted = [], events }: Announcement): void {
  notifyEvicted(context, evicted);
  broadcast(context, events);
}

function notifyEvicted(context: ServerContext, evicted: readonly EvictedSession[]): void {
  // A session has one seat at most in a room, and may get it again: see `assignSeat`.
  for (const key of evicted) if (key.reason === 'kicked' || key.reason === 'lost') context.departed.add(key);
  const byNode = new Map<NodeId, EvictedSession[]>();
  for (const entry of evicted) {
    const entries = byNode.get(entry.nodeId) ?? [];
    byNode.set(entry.nodeId, [...entries, entry]);
  }
  for (const [nodeId, entries] of byNode) {
    if (nodeId === context.nodeId) for (const entry of entries) evictSession(context, entry);
    else context.engine.fanout.send(nodeId, { kind: 'evicted', evicted: entries });
  }
}

function broadcast(context: ServerContext, events: readonly RoomEvent[]): void {
  const { io, log } = context;
  for (const event of events) {
    const { name, body } = event;
    learnEvent(context, event);
    countEvent(context, body);
    // One name picks one body: the compiler does not follow that through the union of events.
    io.to(socketRoom(body.ref)).emit(name, body as never);
    if (name === 'room:closed') log.info({ ref: body.ref, reason: body.reason }, 'a room has ended');
  }
}

/** An event is sent in any case: it has happened. What the room may send next is less by it. */
function countEvent(context: ServerContext, body: RoomEvent['body']): void {
  // The event of a room that has no session here is sent by other nodes.
  if (context.registry.room(body.ref) === undefined) return;
  const by = 'member' in body ? body.member.userId : null;
  chargeTraffic(context, body.ref, by, Buffer.byteLength(JSON.stringify(body)) + ENVELOPE_BYTES);
}
