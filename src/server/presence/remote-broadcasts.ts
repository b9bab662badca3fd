/**
 * The events of rooms that come from other nodes, as the adapter hands them to the clients of this one: what this node
 * knows of its rooms is taken from them. They are checked: every client of Redis can publish on the channels of the adapter.
 */
import { PUSHES } from '../../protocol/messages.ts';
import type { RoomEvent, RoomEventName } from '../../room/outcomes.ts';
import type { Io } from '../sessions/socket-types.ts';

/** Of `MessageType` in `socket.io-adapter`, which does not export its value. */
const BROADCAST = 3;

/** As much as is read of a message between adapters. */
interface AdapterMessage {
  readonly uid?: unknown;
  readonly type?: unknown;
  readonly data?: { readonly packet?: { readonly data?: unknown } };
}

/** Does nothing with Socket.IO's own adapter, which has no other nodes. */
export function watchRemoteBroadcasts(io: Io, onEvent: (event: RoomEvent) => void): void {
  const adapter = io.of('/').adapter;
  // Protected in the types of the adapter, which has no other place that sees a packet from another node.
  const deliver: unknown = Reflect.get(adapter, 'onMessage');
  if (typeof deliver !== 'function') return;
  const uid: unknown = Reflect.get(adapter, 'uid');
  Reflect.set(adapter, 'onMessage', (message: AdapterMessage, ...others: unknown[]) => {
    const event = message.type === BROADCAST && message.uid !== uid ? readEvent(message.data?.packet?.data) : undefined;
    // Before the clients: what they ask then is answered with it.
    if (event !== undefined) onEvent(event);
    Reflect.apply(deliver, adapter, [message, ...others]);
  });
}

const ROOM_EVENTS: Readonly<Record<RoomEventName, true>> = {
  'member:joined': true,
  'member:left': true,
  'member:away': true,
  'member:back': true,
  'member:updated': true,
  'host:changed': true,
  'room:updated': true,
  'room:closed': true,
};

const isRoomEvent = (name: unknown): name is RoomEventName =>
  typeof name === 'string' && Object.hasOwn(ROOM_EVENTS, name);

function readEvent(packet: unknown): RoomEvent | undefined {
  if (!Array.isArray(packet)) return undefined;
  const [name, body]: readonly unknown[] = packet;
  if (!isRoomEvent(name)) return undefined;
  const read = PUSHES[name].body.safeParse(body);
  // Name and body are a pair, which the compiler does not follow through the union.
  return read.success ? ({ name, body: read.data } as unknown as RoomEvent) : undefined;
}
