/** Clients of either side: the least that can exchange signals. */
import { io, type Socket } from 'socket.io-client';
import type { Side } from './sides.ts';

export interface Peer {
  readonly socket: Socket;
  /** What a signal to it is addressed to. */
  readonly name: string;
}

/** Connects many, a few at a time: a crowd would wait for itself until it times out. */
export async function connectPeers(side: Side, count: number, atOnce = 20): Promise<Peer[]> {
  const peers: Peer[] = [];
  while (peers.length < count) {
    const batch = Math.min(atOnce, count - peers.length);
    peers.push(...(await Promise.all(Array.from({ length: batch }, () => connectPeer(side)))));
  }
  return peers;
}

async function connectPeer({ name, url }: Side): Promise<Peer> {
  const socket = io(url, { transports: ['websocket'], forceNew: true, reconnection: false, auth: { v: 1 } });
  const [welcome] = await new Promise<[{ userId: string }?]>((resolve, reject) => {
    socket.once('connect_error', reject);
    if (name === 'bare') socket.once('connect', () => resolve([]));
    else socket.once('welcome', (body: { userId: string }) => resolve([body]));
  });
  return { socket, name: welcome?.userId ?? socket.id ?? '' };
}

/** Puts peers into rooms of that size. The bare side has none. */
export async function seat(side: Side, peers: readonly Peer[], size: number): Promise<void> {
  if (side.name === 'bare') return;
  for (let first = 0; first < peers.length; first += size) {
    const [host, ...others] = peers.slice(first, first + size);
    if (host === undefined) return;
    const { room } = await must(host, 'room:create', { maxUsers: Math.max(2, size) });
    for (const other of others) await must(other, 'room:join', { code: room.code, ref: room.ref });
  }
}

interface Seated {
  readonly room: { readonly code: string; readonly ref: string };
}

export async function must({ socket }: Peer, request: string, payload: object): Promise<Seated> {
  const reply = (await socket.timeout(10_000).emitWithAck(request, payload)) as Seated & {
    ok: boolean;
    error?: object;
  };
  if (!reply.ok) throw new Error(`${request} was refused: ${JSON.stringify(reply.error)}`);
  return reply;
}

export function disconnect(peers: readonly Peer[]): void {
  for (const { socket } of peers) socket.disconnect();
}
