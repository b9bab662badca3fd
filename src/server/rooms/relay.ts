/** Relays signals and messages. A signal to a member on this node touches nothing but the two connections. */
import { socketRoom, socketRoomOfMember } from '../../engine/socket-rooms.ts';
import type { RequestPayload } from '../../protocol/events.ts';
import type { RoomRef, UserId } from '../../protocol/ids.ts';
import type { SeatKey } from '../../room/commands.ts';
import { StoreUnavailable } from '../../support/store.ts';
import type { ServerContext } from '../context.ts';
import type { JsonText, WithDataText } from '../json/json-text.ts';
import { sentBytes } from '../limits/prices.ts';
import { chargeTraffic, takeTraffic } from '../presence/traffic.ts';
import { type RequestReply, refuse, refuseTraffic } from '../replies.ts';
import { broadcastHere, deliverHere } from '../sessions/events-here.ts';
import type { Session } from '../sessions/session.ts';

/** Up to this many characters a publish costs no more than asking first whether anybody would receive it. */
const MAX_UNASKED_LENGTH = 16 * 1024;

/** The event as JSON text. Neither a user id nor a ref has a character that JSON escapes. */
export const eventText = (name: 'signal' | 'message', from: UserId | null, { text }: JsonText, ref: RoomRef): string =>
  `["${name}",{"from":${from === null ? 'null' : `"${from}"`},"data":${text},"ref":"${ref}"}]`;

export async function sendSignal(
  context: ServerContext,
  session: Session,
  key: SeatKey,
  { to, data }: WithDataText<RequestPayload<'signal'>>,
): Promise<RequestReply<'signal'>> {
  const { registry, signals } = context;
  const event = eventText('signal', session.userId, data, key.ref);
  const target = registry.member(key.ref, to);
  // Nor does one to a member that resumes at this node: it overtakes none that its sender has sent before.
  if (target?.pushText(event) || deliverHere(context.io, socketRoomOfMember(key.ref, to), event) > 0) {
    // A signal to oneself connects no two members.
    if (target !== session) signals.count(key.ref);
    return { ok: true };
  }
  if (data.text.length > MAX_UNASKED_LENGTH) {
    const refused = await whyUnreachable(context, key, to);
    if (refused !== undefined) return refused;
  }
  return publishSignal(context, key, to, event);
}

/** To another node, which acknowledges it: two ways through Redis, there and back. */
async function publishSignal(
  context: ServerContext,
  key: SeatKey,
  to: UserId,
  event: string,
): Promise<RequestReply<'signal'>> {
  const { engine, signals } = context;
  const delivered = await engine.fanout.deliver(socketRoomOfMember(key.ref, to), event);
  if (delivered) {
    signals.count(key.ref);
    return { ok: true };
  }
  const refused = await whyUnreachable(context, key, to);
  if (refused !== undefined) return refused;
  // The node of a present member that nobody listens for has lost its connection to the store: the member is not told to be
  // away, so its sender must not wait for its return.
  if (delivered === undefined) throw new StoreUnavailable('the node of the member cannot be reached');
  // It has just lost its connection, or is resuming its seat.
  return refuse('PEER_AWAY');
}

/**
 * Sends a message to everyone in a room, on every node.
 *
 * @param from null: the owner of the server, whose messages are not refused for the traffic of the room.
 * @throws StoreUnavailable when it would not leave this node, or did not in time: nobody has it.
 */
export async function sendMessage(
  context: ServerContext,
  ref: RoomRef,
  from: UserId | null,
  { data }: WithDataText<RequestPayload<'message'>>,
): Promise<RequestReply<'message'>> {
  const { engine, io } = context;
  if (from === null) chargeTraffic(context, ref, from, sentBytes(data));
  else {
    const retryAfterMs = takeTraffic(context, ref, from, sentBytes(data));
    if (retryAfterMs > 0) return refuseTraffic(retryAfterMs);
  }
  const event = eventText('message', from, data, ref);
  // Refused before anybody has it: a retry would deliver it twice. So the members on this node wait for Redis as well.
  if (!engine.fanout.isUp(socketRoom(ref))) throw new StoreUnavailable('the message would not leave this node');
  const published = engine.fanout.broadcast(socketRoom(ref), event);
  // Not awaited where there are no other nodes: what the sender sends next would overtake it.
  if (published !== undefined) await published;
  broadcastHere(io, socketRoom(ref), event);
  return { ok: true };
}

/** Asks the engine. @returns `undefined` for a member that is present */
async function whyUnreachable({ engine }: ServerContext, { code, ref }: SeatKey, to: UserId) {
  const found = await engine.apply({ kind: 'find', code, ref, userId: to });
  if (!found.ok) return refuse(found.reason === 'CODE_EXPIRED' ? 'NOT_IN_ROOM' : 'PEER_NOT_FOUND');
  return found.state === 'away' ? refuse('PEER_AWAY') : undefined;
}
