/**
 * One connection from its first byte to its last: it is opened once, welcomed at most once, and goes down once. Whoever
 * wants another makes another, so nothing late of an old one can be taken for news.
 */
import { io, type Socket } from 'socket.io-client';
import type { Acknowledgement, ErrorBody, Push, PushName, RequestInput, RequestName } from '../protocol/index.ts';

/** Any push, name and body belonging together. */
export type AnyPush = { [Name in PushName]: { readonly name: Name; readonly body: Push<Name> } }[PushName];

/** What all links of a connection have in common. */
export interface SocketOptions {
  readonly url: string;
  readonly path: string;
  /** What goes with a handshake; asked for every attempt. */
  readonly auth: () => Record<string, unknown>;
  /** Milliseconds within which the server must have welcomed. */
  readonly timeoutMs: number;
}

export class SingleUseSocket {
  readonly #socket: Socket;
  readonly #down: (error?: ErrorBody) => void;
  readonly #impatience: ReturnType<typeof setTimeout>;
  #isDown = false;

  /** @param down called once, with an error where the server has refused and said why. Nothing follows. */
  constructor(
    { url, path, auth, timeoutMs }: SocketOptions,
    push: (push: AnyPush) => void,
    down: (error?: ErrorBody) => void,
  ) {
    this.#down = down;
    this.#impatience = setTimeout(() => this.#end(), timeoutMs);
    this.#socket = io(url, { transports: ['websocket'], forceNew: true, reconnection: false, auth: auth(), path });
    this.#socket.on('disconnect', () => this.#end());
    this.#socket.on('connect_error', (error) => this.#end(refusal(error)));
    this.#socket.onAny((name: PushName, body: unknown) => {
      if (this.#isDown) return;
      if (name === 'welcome') clearTimeout(this.#impatience);
      try {
        // The server's pushes are those of the table; of a later version's, nobody knows the name.
        push({ name, body } as AnyPush);
      } catch {
        // What does not fit the table is the server's fault, and nothing after it can be trusted.
        this.#end();
      }
    });
  }

  /** @returns undefined when no answer came in time, or the link went down before it. */
  request<Name extends RequestName>(
    name: Name,
    payload: RequestInput<Name>,
    patienceMs: number,
  ): Promise<Acknowledgement<Name> | undefined> {
    return new Promise((resolve) => {
      if (this.#isDown) resolve(undefined);
      // Socket.IO calls back with an error when the time is over or the connection lost.
      else
        this.#socket
          .timeout(patienceMs)
          .emit(name, payload, (_: unknown, answer?: Acknowledgement<Name>) => resolve(answer));
    });
  }

  /** Nothing is heard of it any more, not even that it is down. Requests under way end with it. */
  close(): void {
    this.#isDown = true;
    clearTimeout(this.#impatience);
    // What it has not sent by now it would keep for another connection, and the request waiting.
    this.#socket.sendBuffer = [];
    this.#socket.off().offAny().disconnect();
  }

  #end(error?: ErrorBody): void {
    if (this.#isDown) return;
    this.close();
    this.#down(error);
  }
}

/** What the server has said, or undefined when nothing of it has reached us. */
function refusal(error: Error & { data?: Partial<ErrorBody> }): ErrorBody | undefined {
  // Only a server of this protocol sends a code, and its errors have one shape.
  return error.data?.code === undefined ? undefined : (error.data as ErrorBody);
}
