/**
 * Takes the place of a resuming member in the Socket.IO rooms of its seat: the socket itself may not enter them before
 * `welcome`, which is its first push. It receives as a connection does, so that a signal to it is acknowledged, and hands
 * over in order what it has kept.
 */

import type { Session } from '../sessions/session.ts';
import type { Io } from '../sessions/socket-types.ts';

/** What comes during a few round trips to the store. Beyond that it is closed, and a signal to it is refused. */
const MAX_KEPT = { packets: 64, characters: 256 * 1024 };

interface Kept {
  readonly packet: string;
  readonly options: object | undefined;
}

export class StandIn {
  /** Something was not kept. */
  isOverflowed = false;
  /** The parts of a socket that the adapter and `deliverHere` use. */
  readonly connected = true;
  readonly conn: { readonly readyState: string; write(packet: string, options?: object): void };
  readonly client = {
    writeToEngine: (packets: string | readonly string[], options: object): void => {
      for (const packet of typeof packets === 'string' ? [packets] : packets) this.#keep(packet, options);
    },
  };
  readonly #session: Session;
  readonly #kept: Kept[] = [];
  #characters = 0;

  constructor(session: Session) {
    this.#session = session;
    const isOpen = () => session.connected && !this.#isFull;
    this.conn = {
      get readyState() {
        return isOpen() ? 'open' : 'closed';
      },
      write: (packet, options) => this.#keep(packet, options),
    };
  }

  /** Enters the rooms. @returns how it leaves them. */
  enter(io: Io, rooms: readonly string[]): () => void {
    const { adapter, sockets } = io.of('/');
    const { userId, number } = this.#session;
    const id = `resume:${userId}:${number}` as Parameters<typeof sockets.set>[0];
    // Cast: it has only what is asked of the sockets in a room.
    sockets.set(id, this as unknown as NonNullable<ReturnType<typeof sockets.get>>);
    // The promise is settled already: both adapters in use enter synchronously.
    void adapter.addAll(id, new Set(rooms));
    return () => {
      adapter.delAll(id);
      sockets.delete(id);
    };
  }

  /** Hands over what it has kept: in the same turn in which the session enters the rooms and it leaves them. */
  handOver(): void {
    for (const { packet, options } of this.#kept.splice(0)) this.#session.forward(packet, options);
  }

  /** Called by Socket.IO when the server closes. */
  _onclose(): void {}

  #keep(packet: string, options: object | undefined): void {
    this.isOverflowed ||= this.#isFull;
    if (this.isOverflowed) return;
    this.#characters += packet.length;
    this.#kept.push({ packet, options });
  }

  get #isFull(): boolean {
    return this.#kept.length >= MAX_KEPT.packets || this.#characters >= MAX_KEPT.characters;
  }
}
