/** A session: one connection of a user to this node, and where it sits. */
import type { Server as IoServer, Socket as IoSocket } from 'socket.io';
import type { ClientToServerEvents, Push, PushName, ServerToClientEvents } from '../../protocol/events.ts';
import type { SessionNumber, UserId } from '../../protocol/ids.ts';
import type { Json, Profile, RoomSnapshot } from '../../protocol/snapshot.ts';
import type { Arrive, Outcome, SeatKey } from '../../room/commands.ts';
import type { RoomKey } from '../../room/room.ts';
import { SerialQueue } from '../../support/async/serial-queue.ts';
import { type EngineConnection, terminate } from '../limits/control-frames.ts';

/** The packet type of Socket.IO's protocol. */
const EVENT = '2';

interface SocketData {
  admitted: { readonly session: Session; readonly arrived: Outcome<Arrive> };
}
type NoServerEvents = Record<never, never>;
export type Io = IoServer<ClientToServerEvents, ServerToClientEvents, NoServerEvents, SocketData>;
export type Socket = IoSocket<ClientToServerEvents, ServerToClientEvents, NoServerEvents, SocketData>;

/** What a session is made of. `address` is the client's, as far as it is known. */
interface SessionOptions {
  readonly userId: UserId;
  readonly number: SessionNumber;
  readonly connectedAt: number;
  /** The present instant by this node's clock; `connectedAt` is one by the store's. */
  readonly now: number;
  readonly name: string | undefined;
  /** JSON text. */
  readonly metadata: string | undefined;
  readonly address: string;
}

export class Session {
  readonly userId: UserId;
  readonly number: SessionNumber;
  readonly connectedAt: number;
  readonly address: string;
  name: string | undefined;
  /** The seat it holds, as far as this node knows: the engine decides. */
  seat: RoomKey | null = null;
  mediaType: string | undefined;
  /** JSON text: where its identity has some, with which it enters rooms. */
  metadata: string | undefined;
  /** When its record was last kept alive, by this node's clock. */
  touchedAt: number;
  /**
   * When the TURN credentials that it was given here end, by this node's clock; 0 when it was given none. In seconds, as
   * the credentials say it: a number so small weighs nothing beside the object.
   */
  turnUntil = 0;
  /** Whatever changes the seat runs here: none of it overlaps. */
  readonly queue = new SerialQueue();
  private readonly socket: Socket;

  constructor(socket: Socket, from: SessionOptions) {
    this.socket = socket;
    this.userId = from.userId;
    this.number = from.number;
    this.connectedAt = from.connectedAt;
    this.touchedAt = from.now;
    this.name = from.name;
    this.metadata = from.metadata;
    this.address = from.address;
  }

  get connected(): boolean {
    return this.socket.connected;
  }

  /** The seat's name in a command; `undefined` when it sits nowhere. */
  get seatKey(): SeatKey | undefined {
    return this.seat === null ? undefined : { ...this.seat, userId: this.userId, session: this.number };
  }

  /** Takes over what the room knows of a user who comes back and does not say it again. */
  restoreProfile({ members }: RoomSnapshot): void {
    const self = members.find(({ userId }) => userId === this.userId);
    this.name ??= self?.name ?? undefined;
    this.mediaType ??= self?.mediaType;
    this.describe(self?.metadata);
  }

  /** What the user says of itself goes into its record, and with it into the next room. */
  updateProfile({ name, mediaType, metadata }: Profile): void {
    this.name = name ?? this.name;
    this.mediaType = mediaType ?? this.mediaType;
    this.describe(metadata);
  }

  /** What a member has said of itself is not undone when it asks for its seat again. */
  private describe(metadata: Json | undefined): void {
    if (this.metadata !== undefined && metadata !== undefined) this.metadata = JSON.stringify(metadata);
  }

  push<Name extends PushName>(name: Name, body: Push<Name>): void {
    this.pushText(JSON.stringify([name, body]));
  }

  /** @param event is `["name",body]`, written already. */
  pushText(event: string): void {
    // What Socket.IO would do besides is of no use here: nothing binary, no acknowledgements, one namespace.
    this.socket.conn.write(EVENT + event);
  }

  /** Enters the Socket.IO rooms; a disconnected socket enters none. */
  joinSocketRooms(rooms: string[]): void {
    // The adapters in use answer at once.
    void this.socket.join(rooms);
  }

  leaveSocketRooms(rooms: string[]): void {
    for (const room of rooms) void this.socket.leave(room);
  }

  /** Ends the connection for good: a Socket.IO client does not come back from this by itself. */
  end(): void {
    this.socket.disconnect(true);
  }

  /** Ends what is left of the connection, whether the client agrees or not. */
  terminate(): void {
    // Its WebSocket is not in the types of Engine.IO.
    terminate(this.socket.conn as unknown as EngineConnection);
  }

  /** Drops the connection as if it were lost: the client comes back, and is told where it stands. */
  drop(): void {
    this.socket.conn.close();
  }
}
