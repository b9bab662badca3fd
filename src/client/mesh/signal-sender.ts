/** The way of signals to one member: in order where order matters, and once more where that may help. */
import type { UserId } from '../../protocol/index.ts';
import type { SignalboxError } from '../errors.ts';
import type { Room } from '../room.ts';
import { type Signal, writeSignal } from './signals.ts';

const RETRY_MS = 1_000;
const MAX_TRIES = 5;

export class SignalSender {
  readonly #room: Room;
  readonly #to: UserId;
  readonly #isDue: (signal: Signal) => boolean;
  readonly #timers = new Set<ReturnType<typeof setTimeout>>();
  #gate: Promise<void> = Promise.resolve();

  /** @param isDue whether a signal still means something: asked before every try. */
  constructor(room: Room, to: UserId, isDue: (signal: Signal) => boolean) {
    this.#room = room;
    this.#to = to;
    this.#isDue = isDue;
  }

  /** Nothing overtakes a description. Candidates do not wait for each other: that would be a round trip for each. */
  post(signal: Signal): void {
    const sent = this.#gate.then(() => this.#deliver(signal));
    if (signal.description) this.#gate = sent;
  }

  close(): void {
    for (const timer of this.#timers) clearTimeout(timer);
  }

  async #deliver(signal: Signal): Promise<void> {
    for (let tries = 0; tries < MAX_TRIES && this.#isDue(signal); tries += 1) {
      try {
        return await this.#room.signal(this.#to, writeSignal(signal));
      } catch (error) {
        // Whatever was thrown: what is not retryable is not tried again.
        const { code, retryable, retryAfterMs = RETRY_MS } = error as Partial<SignalboxError>;
        // Whoever is away begins anew when it is back, and so do we. A description is made anew or sent again by its pair:
        // kept here through a bad time, it would hold up those that still mean something.
        if (!retryable || code === 'PEER_AWAY' || (signal.description && code !== 'RATE_LIMITED')) return;
        await this.#pause(retryAfterMs);
      }
    }
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => {
        this.#timers.delete(timer);
        resolve();
      }, ms);
      this.#timers.add(timer);
    });
  }
}
