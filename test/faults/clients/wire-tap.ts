/**
 * Sees what goes over the wire below the SDK, by the methods of Socket.IO's client through which every packet goes. A client
 * is known by the name that it gives in its handshake.
 */
import { Socket } from 'socket.io-client';
import type { Standing } from '../checker/run.ts';
import type { Journal } from './journal.ts';

/** Of socket.io-parser. */
const EVENT = 2;
const ACK = 3;

interface Packet {
  readonly type: number;
  readonly id?: number;
  /** A list, except for a connect packet. */
  readonly data?: unknown;
}

interface Tapped {
  readonly auth?: { readonly name?: string };
  readonly io: {
    readonly engine?: { readonly transport?: { readonly ws?: { terminate?(): void } } };
    onclose(reason: string): void;
  };
  packet: (this: Tapped, packet: Packet) => void;
  onpacket: (this: Tapped, packet: Packet) => void;
  onclose: (this: Tapped, reason: string) => void;
}

interface Connection {
  readonly number: number;
  readonly requests: Map<number, string>;
  /** The last word of a connection has been written. */
  isOver: boolean;
}

interface Body {
  readonly ok?: boolean;
  readonly error?: { readonly code: string };
  readonly ref?: string;
  readonly rev?: number | null;
  readonly reason?: string;
  readonly userId?: string;
  readonly nodeId?: string;
  readonly member?: { readonly userId: string };
  readonly room?: Snapshot | null;
}

interface Snapshot {
  readonly code: string;
  readonly ref: string;
  readonly rev: number;
  readonly members?: readonly { readonly userId: string }[];
}

export interface WireTap {
  /** Ends the connections of a client at once, as when its network or its page is gone. */
  readonly cut: (client: string) => void;
}

export function tapTheWire(journal: Journal): WireTap {
  const connections = new WeakMap<Tapped, Connection>();
  const open = new Set<Tapped>();
  let count = 0;
  const of = (socket: Tapped): Connection => {
    const known = connections.get(socket);
    if (known !== undefined) return known;
    count += 1;
    const made = { number: count, requests: new Map<number, string>(), isOver: false };
    connections.set(socket, made);
    open.add(socket);
    return made;
  };
  const nameOf = (socket: Tapped) => socket.auth?.name ?? '';
  // Cast: these methods are there, and private in the types.
  const prototype = Socket.prototype as unknown as Tapped;
  const { packet: send, onpacket: receive, onclose: close } = prototype;
  prototype.packet = function (this: Tapped, packet) {
    const { number: connection, requests } = of(this);
    if (packet.type === EVENT && packet.id !== undefined) {
      const name = String(Object(packet.data)[0]);
      requests.set(packet.id, name);
      journal.write(nameOf(this), { kind: 'asked', connection, request: packet.id, name });
    }
    send.call(this, packet);
  };
  prototype.onpacket = function (this: Tapped, packet) {
    const { number: connection, requests } = of(this);
    const [first, second] = Array.isArray(packet.data) ? packet.data : [];
    if (packet.type === ACK && packet.id !== undefined) {
      const { error, rev, room }: Body = Object(first);
      const name = requests.get(packet.id) ?? '';
      requests.delete(packet.id);
      journal.write(nameOf(this), {
        kind: 'answered',
        connection,
        request: packet.id,
        name,
        error: error?.code ?? null,
        rev: rev ?? null,
        room: standing(room),
      });
    } else if (packet.type === EVENT) push(journal, nameOf(this), connection, String(first), Object(second));
    receive.call(this, packet);
  };
  prototype.onclose = function (this: Tapped, reason) {
    const connection = of(this);
    if (!connection.isOver) journal.write(nameOf(this), { kind: 'closed', connection: connection.number });
    connection.isOver = true;
    open.delete(this);
    close.call(this, reason);
  };
  return {
    cut(client) {
      for (const socket of [...open].filter((one) => nameOf(one) === client)) {
        socket.io.engine?.transport?.ws?.terminate?.();
        // Now, and not when the network has noticed: what follows must not find it open.
        socket.io.onclose('cut');
      }
    },
  };
}

function push(journal: Journal, client: string, connection: number, name: string, body: Body): void {
  if (name === 'welcome') {
    const { userId = '', nodeId = '', room } = body;
    journal.write(client, { kind: 'welcomed', connection, userId, nodeId, room: standing(room) });
  } else if (body.ref !== undefined && typeof body.rev === 'number') {
    const userId = body.userId ?? body.member?.userId ?? null;
    const { ref, rev, reason = null } = body;
    journal.write(client, { kind: 'pushed', connection, name, ref, rev, userId, reason });
  }
}

/** The settings of a room without its members are no snapshot. */
const standing = (room: Snapshot | null | undefined): Standing | null =>
  room?.members === undefined
    ? null
    : { code: room.code, ref: room.ref, rev: room.rev, members: room.members.map(({ userId }) => userId).toSorted() };
