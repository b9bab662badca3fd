/**
 * One connection from its first byte to its last: it is opened once, welcomed at most once, and goes down once. Whoever
 * wants another makes another, so nothing late of an old one can be taken for news.
 */
import { io, type Socket } from 'socket.io-client';
import type { Acknowledgement, ErrorBody, Push, PushName, RequestInput, RequestName } from '../protocol/index.ts';

/** Any push, name and body belonging together. */
export type AnyPush = { [Name in PushName]: { readonly name: Name; readonly body: Push<Name> } }[PushName];

export interface LinkSetup {
  readonly url: string;
  readonly path: string | undefined;
  readonly auth: Record<string, unknown>;
  /** Milliseconds within which the server must have welcomed. */
  readonly patienceMs: number;
  readonly push: (push: AnyPush) => void;
  /** `error` where the server has refused and said why. Nothing follows. */
  readonly down: (error?: ErrorBody) => void;
}

export class Link {
  readonly #socket: Socket;
  readonly #setup: LinkSetup;
  /** Requests under way: they end with the link. */
  readonly #waiting = new Set<() => void>();
  readonly #impatience: ReturnType<typeof setTimeout>;
  #isDown = false;

  constructor(setup: LinkSetup) {
    const { url, path, auth, patienceMs, push } = setup;
    this.#setup = setup;
    this.#impatience = setTimeout(() => this.#end(), patienceMs);
    this.#socket = io(url, {
      transports: ['websocket'],
      forceNew: true,
      reconnection: false,
      auth,
      ...(path !== undefined && { path }),
    });
    this.#socket.on('disconnect', () => this.#end());
    this.#socket.on('connect_error', (error) => this.#end(refusal(error)));
    this.#socket.onAny((name: PushName, body: unknown) => {
      if (this.#isDown) return;
      if (name === 'welcome') clearTimeout(this.#impatience);
      // The server's pushes are those of the table; of a later version's, nobody knows the name.
      push({ name, body } as AnyPush);
    });
  }

  /** @returns undefined when no answer came in time, or the link went down before it. */
  request<Name extends RequestName>(
    name: Name,
    payload: RequestInput<Name>,
    patienceMs: number,
  ): Promise<Acknowledgement<Name> | undefined> {
    return new Promise((resolve) => {
      const done = (answer?: Acknowledgement<Name>): void => {
        clearTimeout(timer);
        this.#waiting.delete(done);
        resolve(answer);
      };
      const timer = setTimeout(done, patienceMs);
      this.#waiting.add(done);
      if (this.#isDown) done();
      else this.#socket.emit(name, payload, done);
    });
  }

  /** Nothing is heard of it any more, not even that it is down. */
  close(): void {
    this.#isDown = true;
    clearTimeout(this.#impatience);
    this.#socket.off().offAny().disconnect();
    for (const done of [...this.#waiting]) done();
  }

  #end(error?: ErrorBody): void {
    if (this.#isDown) return;
    this.close();
    this.#setup.down(error);
  }
}

/** What the server has said, or undefined when nothing of it has reached us. */
function refusal(error: Error & { data?: Partial<ErrorBody> }): ErrorBody | undefined {
  // Only a server of this protocol sends a code, and its errors have one shape.
  return error.data?.code === undefined ? undefined : (error.data as ErrorBody);
}
