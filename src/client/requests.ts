/** Requests: they wait for the connection, are sent again after its loss if idempotent, and settle by a deadline. */
import type { Reply, RequestInput, RequestName } from '../protocol/index.ts';
import { type Connection, replyOf } from './connection.ts';
import { clientError } from './errors.ts';
import { checkPayload } from './payload-check.ts';
import type { PageClock } from './runtime.ts';

export interface RequestOptions {
  /** Whether the request is idempotent: it is sent again if the connection was lost before the answer. */
  readonly mayRepeat: boolean;
  /** Checked right before sending: false cancels the request. */
  readonly isDue?: () => boolean;
  /** Deadline by the monotonic clock. */
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

  /** The deadline of a request that begins now. */
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
