/** The client as its users see it: one connection that comes back by itself, and at most one room on it. */
import type { Profile, RequestInput, UserId } from '../protocol/index.ts';
import type { Backoff } from './backoff.ts';
import type { Subject } from './emitter.ts';
import type { SignalboxError } from './errors.ts';
import type { Room } from './room.ts';
import type { ResumeStore } from './token-store.ts';

/**
 * - `connecting`: for the first time
 * - `online`: connected, and the room (if there is one) is the room as the server knows it
 * - `reconnecting`: it was lost, and is being tried again
 * - `offline`: the same, and the device says that it has no network
 * - `closed`: for good; `Client.ending` says why
 */
export type ConnectionState = 'connecting' | 'online' | 'reconnecting' | 'offline' | 'closed';

/** How a client ended. */
export interface ClientEnding {
  /**
   * - `closed`: by `Client.close()`
   * - `replaced`: the same user has connected elsewhere, in another tab for instance
   * - `kicked`: the host took the seat away; `banned` when it cannot be taken again
   * - `refused`: the server does not let this client in, `error` says why
   */
  readonly reason: 'closed' | 'replaced' | 'kicked' | 'banned' | 'refused';
  /** With `refused`. */
  readonly error?: SignalboxError;
}

/** How `connect` connects. Everything has a default. */
export interface ConnectOptions {
  /** What the others see, unless the profile of a room says otherwise; at most 64 characters. */
  readonly name?: string;
  /** A token of your own back end, where the server asks for one. Read for every attempt: a getter gives the latest. */
  readonly token?: string;
  /** Where the resume token is kept. Default: the tab's `sessionStorage`; nowhere in Node. `null`: nowhere. */
  readonly store?: ResumeStore | null;
  /** Path of the Socket.IO endpoint. Default `/socket.io`. */
  readonly path?: string;
  /** Milliseconds after which a request is given up, its waiting for the connection included. Default 10,000. */
  readonly timeoutMs?: number;
  /**
   * Milliseconds. The n-th attempt to reconnect waits a random time between 0 and `baseMs` x 2^n, at most `maxMs`; later
   * if the server says so. Default 500 and 15,000.
   */
  readonly backoff?: Backoff;
}

/** What a room may begin with: its `name`, `type`, `maxUsers`, `metadata`, and the creator's own `profile`. */
export type CreateOptions = Omit<RequestInput<'room:create'>, 'idempotencyKey'>;

/** What may go with a code. */
export interface JoinOptions {
  /** What the others see of this client in the room. */
  readonly profile?: Profile;
  /** The room itself, where it is known: then the code of a later room answers `CODE_EXPIRED`. */
  readonly ref?: string;
}

/** What a client tells, by name. */
export interface ClientEvents {
  /** The new `Client.state`. */
  state: ConnectionState;
  /** A seat was taken, or after a page load taken again. */
  room: Room;
  /** Something of the network to tell people: an attempt has failed. */
  retry: {
    /** Milliseconds until the next one. */
    readonly retryInMs: number;
    /** Why it has failed. */
    readonly error: SignalboxError;
  };
}

/** What `connect` gives. */
export interface Client extends Subject<ClientEvents> {
  /** Told by the event `state` whenever it changes. */
  readonly state: ConnectionState;
  /** Why it is closed; null before that. */
  readonly ending: ClientEnding | null;
  /** Null before the first welcome. */
  readonly userId: UserId | null;
  /** How many digits a room code of this server has; 6 before the first welcome. */
  readonly codeDigits: number;
  /** The room that this client is in. */
  readonly room: Room | null;
  /**
   * Resolves once online: with the room whose seat was taken again after a page load, or null.
   *
   * @throws SignalboxError when the client was closed, or the server does not let it in; and `UNREACHABLE`, or why else
   * it is not online, after `timeoutMs`. The client goes on trying then: ask again, unless it has an `ending`.
   */
  ready(): Promise<Room | null>;
  /**
   * Opens a room under a fresh code. A room that this client is in is left.
   *
   * @throws SignalboxError
   */
  create(options?: CreateOptions): Promise<Room>;
  /**
   * Joins the room of a code. A room that this client is in is left once the other has accepted.
   *
   * @param code as people type it: spaces, dashes and any script's digits are understood.
   * @throws SignalboxError
   */
  join(code: string, options?: JoinOptions): Promise<Room>;
  /** Leaves the room and ends the connection. Resolves when the server knows, or cannot be told. */
  close(): Promise<void>;
}
