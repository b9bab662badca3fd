/** Writes events that are JSON text already to the connections of this node that are in a Socket.IO room. */
import { EVENT_AS_TEXT, type Io } from './socket-types.ts';
import { writeEvent } from './write-event.ts';

/** To each connection of a Socket.IO room. @returns how many there are that are open. */
export function deliverHere(io: Io, room: string, event: string): number {
  const { adapter, sockets } = io.of('/');
  let delivered = 0;
  for (const id of adapter.rooms.get(room) ?? []) {
    const socket = sockets.get(id);
    // A connection that is closing drops what is written to it; a session that is about to resume has none yet.
    if (socket?.connected !== true || socket.conn.readyState !== 'open') continue;
    writeEvent(socket, event);
    delivered += 1;
  }
  return delivered;
}

/** To all connections of a Socket.IO room, which share one frame. */
export function broadcastHere(io: Io, room: string, event: string): void {
  io.local.to(room).emit(EVENT_AS_TEXT, event);
}
