/** Sends signals to one member: descriptions in order, and again if the server refuses them for the moment. */
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

  /** @param isDue whether a signal still has a meaning: asked before every try. */
  constructor(room: Room, to: UserId, isDue: (signal: Signal) => boolean, clock: PageClock) {
    this.#room = room;
    this.#to = to;
    this.#isDue = isDue;
    this.#clock = clock;
  }

  /** No signal overtakes a description. Candidates do not wait for each other: each would cost a round trip. */
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
        // An exception of another kind has no `retryable`, and is not tried again.
        const { code, retryable, retryAfterMs = RETRY_MS } = error as Partial<SignalboxError>;
        // A member that was away begins anew when it is back, and so do we. A description is made anew or sent again by
        // its connection: retried here, an outdated one would hold up those that follow.
        if (!retryable || code === 'PEER_AWAY' || (signal.description && code !== 'RATE_LIMITED')) return;
        await this.#pause(retryAfterMs);
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
