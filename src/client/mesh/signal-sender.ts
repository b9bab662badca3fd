/** Sends signals to one member: in order after each description, with retries after temporary errors. */
import type { UserId } from '../../protocol/index.ts';
import type { Stop } from '../../support/clock.ts';
import type { SignalboxError } from '../errors.ts';
import type { Room } from '../room.ts';
import type { PageClock } from '../runtime.ts';
import { type Signal, writeSignal } from './signals.ts';

const RETRY_MS = 1_000;
const MAX_TRIES = 5;

export class SignalSender {
  readonly #room: Room;
  readonly #to: UserId;
  readonly #isDue: (signal: Signal) => boolean;
  readonly #clock: PageClock;
  readonly #pauses = new Set<Stop>();
  #lastDescription: Promise<void> = Promise.resolve();

  /** @param isDue checked before every attempt: false drops an obsolete signal. */
  constructor(room: Room, to: UserId, isDue: (signal: Signal) => boolean, clock: PageClock) {
    this.#room = room;
    this.#to = to;
    this.#isDue = isDue;
    this.#clock = clock;
  }

  /** No signal overtakes a description. Candidates are sent in parallel: in sequence, each would cost a round trip. */
  send(signal: Signal): void {
    const sent = this.#lastDescription.then(() => this.#deliver(signal));
    if (signal.description) this.#lastDescription = sent;
  }

  close(): void {
    for (const stop of this.#pauses) stop();
  }

  async #deliver(signal: Signal): Promise<void> {
    for (let tries = 0; tries < MAX_TRIES && this.#isDue(signal); tries += 1) {
      try {
        return await this.#room.signal(this.#to, writeSignal(signal));
      } catch (error) {
        // Cast: other exceptions have no `retryable`, and are not retried.
        const { code, retryable, retryAfterMs } = error as Partial<SignalboxError>;
        // Both sides reconnect after a member was away. Descriptions are repeated or replaced by their connection: unless
        // the server says when, a retry here would delay the following ones behind an outdated one.
        if (!retryable || code === 'PEER_AWAY' || (signal.description && !retryAfterMs)) return;
        await this.#pause(retryAfterMs ?? RETRY_MS);
      }
    }
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const stop = this.#clock.after(ms, () => {
        this.#pauses.delete(stop);
        resolve();
      });
      this.#pauses.add(stop);
    });
  }
}
