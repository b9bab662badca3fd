/** Requests that wait for the connection, survive its loss where that does no harm, and settle by a deadline. */
import type { Reply, RequestInput, RequestName } from '../protocol/index.ts';
import { type Connection, replyOf } from './connection.ts';
import { clientError } from './errors.ts';
import { checkPayload } from './payload-check.ts';
import type { PageClock } from './runtime.ts';

export interface RequestOptions {
  /** Whether it may be sent again if the connection was lost before the answer: only if doing it twice does no harm. */
  readonly mayRepeat: boolean;
  /** Whether it still has a meaning: asked right before it is sent. */
  readonly isDue?: () => boolean;
  /** When it is given up, by the monotonic clock. */
  readonly until?: number;
}

export class Requests {
  readonly #connection: Connection;
  readonly #clock: PageClock;
  readonly #timeoutMs: number;

  constructor(connection: Connection, clock: PageClock, timeoutMs: number) {
    this.#connection = connection;
    this.#clock = clock;
    this.#timeoutMs = timeoutMs;
  }

  /** When a request that is made now is given up. */
  deadline(): number {
    return this.#clock.monotonic() + this.#timeoutMs;
  }

  /** @throws SignalboxError */
  async send<Name extends RequestName>(
    name: Name,
    payload: RequestInput<Name>,
    { mayRepeat, isDue = () => true, until = this.deadline() }: RequestOptions,
  ): Promise<Reply<Name>> {
    checkPayload(payload);
    for (;;) {
      await this.#connection.settled(until);
      if (!isDue()) throw clientError('CLOSED');
      const answer = await this.#connection.onlineSocket().request(name, payload, until - this.#clock.monotonic());
      if (answer !== undefined) return replyOf(answer);
      if (!mayRepeat || this.#clock.monotonic() >= until) {
        throw this.#connection.closedError ?? clientError('TIMEOUT');
      }
    }
  }

  /** Resolves when online. @throws SignalboxError when that takes longer than a request may, or the client is closed */
  async online(): Promise<void> {
    await this.#connection.settled(this.deadline());
    this.#connection.onlineSocket();
  }
}
