/** The public types of a client: a connection that is restored by itself, with at most one room. */
import type { Profile, RequestInput, UserId } from '../protocol/index.ts';
import type { Subject } from './emitter.ts';
import type { SignalboxError } from './errors.ts';
import type { Backoff } from './full-jitter.ts';
import type { Room } from './room.ts';
import type { ResumeStore } from './token-store.ts';

/**
 * - `connecting`: for the first time
 * - `online`: connected, and the room (if there is one) is in step with the server
 * - `reconnecting`: the connection was lost and is being restored
 * - `offline`: not connected, and the device reports no network
 * - `closed`: for good; `Client.ending` says why
 */
export type ConnectionState = 'connecting' | 'online' | 'reconnecting' | 'offline' | 'closed';

/** How a client ended. */
export interface ClientEnding {
  /**
   * - `closed`: by `Client.close()`
   * - `replaced`: the same user has connected elsewhere, in another tab for instance
   * - `kicked`: by the host; `banned` if this user cannot join that room again
   * - `refused`: the server rejects this client, `error` says why
   */
  readonly reason: 'closed' | 'replaced' | 'kicked' | 'banned' | 'refused';
  /** With `refused`. */
  readonly error?: SignalboxError;
}

/** How `connect` connects. Everything has a default. */
export interface ConnectOptions {
  /** The name that other members see, unless the profile in a room has another one; at most 64 characters. */
  readonly name?: string;
  /** A token from your own back end, if the server requires one. Read for every attempt, so it may be a getter. */
  readonly token?: string;
  /** Where the resume token is kept. Default: the tab's `sessionStorage`; nowhere in Node. `null`: nowhere. */
  readonly store?: ResumeStore | null;
  /** Path of the Socket.IO endpoint. Default `/socket.io`. */
  readonly path?: string;
  /** Milliseconds after which a request fails, including its wait for the connection. Default 10,000. */
  readonly timeoutMs?: number;
  /**
   * Milliseconds. The n-th attempt to reconnect waits a random time between 0 and `baseMs` x 2^n, at most `maxMs`; longer
   * if the server says so. Default 500 and 15,000.
   */
  readonly backoff?: Backoff;
}

/** Settings of the new room, such as `name`, `type`, `maxUsers` and `metadata`, and the creator's own `profile`. */
export type CreateOptions = Omit<RequestInput<'room:create'>, 'idempotencyKey'>;

/** Options of a join. */
export interface JoinOptions {
  /** What other members see of this client in the room. */
  readonly profile?: Profile;
  /** The room's `ref`, if known: if another room has the code by now, the join fails with `CODE_EXPIRED`. */
  readonly ref?: string;
}

/** The events of a client, by name. */
export interface ClientEvents {
  /** The new `Client.state`. */
  state: ConnectionState;
  /** The client is in another room: by `create` or `join`, or restored after a page load. */
  room: Room;
  /** An attempt to connect has failed. */
  retry: {
    /** Milliseconds until the next one. */
    readonly retryInMs: number;
    /** Why it failed. */
    readonly error: SignalboxError;
  };
}

/** What `connect` returns. */
export interface Client extends Subject<ClientEvents> {
  /** The event `state` reports every change. */
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
   * Resolves once online: with the room that was restored after a page load, or null.
   *
   * @throws SignalboxError when the client is closed or rejected, and after `timeoutMs` with the reason why it is not
   * online, such as `UNREACHABLE`. The client keeps trying, unless it has an `ending`: call it again.
   */
  ready(): Promise<Room | null>;
  /**
   * Creates a room under a fresh code. The client leaves the room that it is in.
   *
   * @throws SignalboxError
   */
  create(options?: CreateOptions): Promise<Room>;
  /**
   * Joins the room of a code. The client leaves the room that it is in once the join has succeeded.
   *
   * @param code as typed: spaces, dashes and the digits of any script are understood.
   * @throws SignalboxError
   */
  join(code: string, options?: JoinOptions): Promise<Room>;
  /** Leaves the room and closes the connection. Resolves when the server has freed the seat, or cannot be reached. */
  close(): Promise<void>;
}
