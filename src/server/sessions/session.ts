/** A session: one connection of a user to this node, and the seat that it holds. */
import type { Push, PushName } from '../../protocol/events.ts';
import type { RoomCode, RoomRef, SessionNumber, UserId } from '../../protocol/ids.ts';
import type { Json, Profile, RoomSnapshot } from '../../protocol/snapshot.ts';
import type { SeatKey } from '../../room/commands.ts';
import type { Evicted } from '../../room/outcomes.ts';
import type { RoomKey } from '../../room/room.ts';
import { SerialQueue } from '../../support/async/serial-queue.ts';
import { type EngineConnection, terminate } from '../limits/terminate.ts';
import type { SeatCopy } from './seat-copy.ts';
import { writeEvent } from './write-event.ts';

/** As much of a Socket.IO socket as a session needs. */
interface SessionSocket {
  readonly connected: boolean;
  readonly conn: {
    readonly readyState: string;
    write(packet: string, options?: object): unknown;
    close(): unknown;
    once(event: 'close', call: () => void): unknown;
  };
  join(rooms: string[]): unknown;
  leave(room: string): unknown;
  disconnect(close: boolean): unknown;
}

interface SessionOptions {
  readonly userId: UserId;
  readonly number: SessionNumber;
  /** By the store's clock, in milliseconds since 1970. */
  readonly connectedAt: number;
  /** By this node's monotonic clock. */
  readonly now: number;
  readonly name: string | undefined;
  /** JSON text. */
  readonly metadata: string | undefined;
  /** The client's, as far as it is known behind proxies. */
  readonly address: string;
}

/** A command of unknown outcome, which may have given the session a seat. */
export interface Unsettled {
  /** The room of that seat. */
  readonly ref: RoomRef;
  /** The key of a create, of which a repetition tells the outcome. */
  readonly idempotencyKey?: string;
  /** Where the seat is known to be there, and its client may ask for it again: keeps it for the grace. */
  readonly suspend?: () => Promise<unknown>;
  /** Gives the seat back, if there is one. */
  readonly undo: () => Promise<unknown>;
}

/** A class for its weight: every connection has one, and methods of a prototype cost an idle connection nothing. */
export class Session {
  readonly userId: UserId;
  readonly number: SessionNumber;
  readonly connectedAt: number;
  readonly address: string;
  name: string | undefined;
  /** The seat it holds, as far as this node knows: the engine decides. */
  seat: { readonly code: RoomCode; readonly ref: RoomRef } | null = null;
  /** At most one: it is settled before the next seat is asked for. */
  unsettled: Unsettled | undefined;
  /** What the store is told of the seat if it has lost it; null without one. */
  seatCopy: SeatCopy | null = null;
  /** That it has lost a seat which it does not know of yet: the notice can overtake the answer to its join or resume. */
  notice: (Evicted & { readonly banned?: boolean }) | undefined;
  mediaType: string | undefined;
  /** JSON text: the identity's metadata, which a new member of a room starts with; undefined for an identity without. */
  metadata: string | undefined;
  /** When the user's record was last refreshed, by this node's monotonic clock. */
  refreshedAt: number;
  /**
   * When this node has issued TURN credentials to the session, by its monotonic clock; -1 for never. In whole seconds: a
   * small integer needs no heap object of its own.
   */
  turnIssuedAt = -1;
  /** Serialises every operation that changes the seat: no two of them overlap. */
  readonly queue = new SerialQueue();
  private readonly socket: SessionSocket;

  constructor(socket: SessionSocket, options: SessionOptions) {
    this.socket = socket;
    this.userId = options.userId;
    this.number = options.number;
    this.connectedAt = options.connectedAt;
    this.refreshedAt = options.now;
    this.name = options.name;
    this.metadata = options.metadata;
    this.address = options.address;
  }

  get connected(): boolean {
    return this.socket.connected;
  }

  /** The seat as commands name it; `undefined` without one. */
  get seatKey(): SeatKey | undefined {
    return this.seat === null ? undefined : this.keyOf(this.seat);
  }

  /** The seat of this session in a room, whether or not it has one there. */
  keyOf({ code, ref }: RoomKey): SeatKey {
    return { code, ref, userId: this.userId, session: this.number };
  }

  /** After a resume: takes the profile over from the room's snapshot, because the client does not send it again. */
  restoreProfile({ members }: RoomSnapshot): void {
    const self = members.find(({ userId }) => userId === this.userId);
    this.name ??= self?.name ?? undefined;
    this.mediaType ??= self?.mediaType;
    this.updateMetadata(self?.metadata);
  }

  /** Stores a new profile, which the user's record and the next room are given. */
  updateProfile({ name, mediaType, metadata }: Profile): void {
    this.name = name ?? this.name;
    this.mediaType = mediaType ?? this.mediaType;
    this.updateMetadata(metadata);
  }

  /** A profile's metadata replaces the identity's: joining again must not bring the identity's back. */
  private updateMetadata(metadata: Json | undefined): void {
    if (this.metadata !== undefined && metadata !== undefined) this.metadata = JSON.stringify(metadata);
  }

  push<Name extends PushName>(name: Name, body: Push<Name>): void {
    this.pushText(JSON.stringify([name, body]));
  }

  /**
   * @param event `["name",body]` as JSON text.
   * @returns whether the connection takes it: one that is closing drops what is written to it.
   */
  pushText(event: string): boolean {
    if (this.socket.conn.readyState !== 'open') return false;
    writeEvent(this.socket, event);
    return true;
  }

  /** Writes a packet of Engine.IO, as the adapter writes it to a socket. */
  forward(packet: string, options: object | undefined): void {
    this.socket.conn.write(packet, options);
  }

  /** Enters Socket.IO rooms; a disconnected socket enters none. */
  joinSocketRooms(rooms: string[]): void {
    // The promise is settled already: both adapters in use join synchronously.
    void this.socket.join(rooms);
  }

  leaveSocketRooms(rooms: string[]): void {
    for (const room of rooms) void this.socket.leave(room);
  }

  /** Disconnects for good: a Socket.IO client does not reconnect by itself after this. */
  end(): void {
    this.socket.disconnect(true);
  }

  /** Calls when the connection has ended. */
  onceClosed(call: () => void): void {
    this.socket.conn.once('close', call);
  }

  /** Destroys the connection without a closing handshake, which a hostile client may never answer. */
  terminate(): void {
    terminate(connectionOf(this.socket));
  }

  /** Reads nothing more from the connection until `resumeReading`. Polling is read all the same: a request is no stream. */
  pauseReading(): void {
    webSocketOf(this.socket)?.pause();
  }

  resumeReading(): void {
    webSocketOf(this.socket)?.resume();
  }

  /** Closes the connection as a network failure would: the client reconnects and resumes. */
  drop(): void {
    this.socket.conn.close();
  }
}

/** Its WebSocket is not in the types of Engine.IO. */
const connectionOf = ({ conn }: SessionSocket): EngineConnection => conn as unknown as EngineConnection;
const webSocketOf = (socket: SessionSocket) => connectionOf(socket).transport.socket;
