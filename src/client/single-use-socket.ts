/**
 * One Socket.IO connection without reconnection: it opens once, gets `welcome` at most once, and goes down once. Each
 * attempt has its own socket, so a late event of an old socket cannot be mistaken for a current one.
 */
import { io, type Socket } from 'socket.io-client';
import type { Acknowledgement, ErrorBody, Push, PushName, RequestInput, RequestName } from '../protocol/index.ts';
import type { Stop } from '../support/clock.ts';
import type { PageClock } from './runtime.ts';

/** Any push: a union of name and body pairs. */
export type AnyPush = { [Name in PushName]: { readonly name: Name; readonly body: Push<Name> } }[PushName];

/** Options shared by all sockets of a client. */
export interface SocketOptions {
  readonly url: string;
  readonly path: string;
  /** Milliseconds within which the server must have sent `welcome`. */
  readonly timeoutMs: number;
}

export interface SocketListener {
  /** When it throws, the socket goes down. */
  readonly onPush: (push: AnyPush) => void;
  /** Called once, with an error if the server has refused the connection. No push follows. */
  readonly onDown: (error?: ErrorBody) => void;
}

export class SingleUseSocket {
  readonly #socket: Socket;
  readonly #listener: SocketListener;
  readonly #stopTimeout: Stop;
  #isDown = false;

  /** @param auth goes with the handshake */
  constructor({ url, path, timeoutMs }: SocketOptions, auth: object, clock: PageClock, listener: SocketListener) {
    this.#listener = listener;
    this.#stopTimeout = clock.after(timeoutMs, () => this.#end());
    this.#socket = io(url, { transports: ['websocket'], forceNew: true, reconnection: false, auth, path });
    this.#socket.on('disconnect', () => this.#end());
    this.#socket.on('connect_error', (error) => this.#end(refusal(error)));
    this.#socket.onAny((name: PushName, body: unknown) => {
      if (this.#isDown) return;
      if (name === 'welcome') this.#stopTimeout();
      try {
        // Cast: the server sends the bodies of the protocol; a push of a later version has an unknown name and is ignored.
        listener.onPush({ name, body } as AnyPush);
      } catch {
        // A body that violates the protocol: later pushes cannot be trusted either.
        this.#end();
      }
    });
  }

  /** @returns undefined when no answer came in time, or the socket went down before it. */
  request<Name extends RequestName>(
    name: Name,
    payload: RequestInput<Name>,
    timeoutMs: number,
  ): Promise<Acknowledgement<Name> | undefined> {
    return new Promise((resolve) => {
      if (this.#isDown) resolve(undefined);
      // Socket.IO calls back with an error at the timeout, or when the connection is lost.
      else
        this.#socket
          .timeout(timeoutMs)
          .emit(name, payload, (_: unknown, answer?: Acknowledgement<Name>) => resolve(answer));
    });
  }

  /** No listener is called afterwards. Requests under way resolve with undefined. */
  close(): void {
    this.#isDown = true;
    this.#stopTimeout();
    // Socket.IO keeps unsent packets for a reconnection: their requests would never settle.
    this.#socket.sendBuffer = [];
    this.#socket.off().offAny().disconnect();
  }

  #end(error?: ErrorBody): void {
    if (this.#isDown) return;
    this.close();
    this.#listener.onDown(error);
  }
}

/** The error sent by the server; undefined when the server was not reached. */
function refusal(error: Error & { data?: Partial<ErrorBody> }): ErrorBody | undefined {
  // Cast: only a server of this protocol sends a code, and all its errors have this shape.
  return error.data?.code === undefined ? undefined : (error.data as ErrorBody);
}
