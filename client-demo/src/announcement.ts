/** Tells the room which page this is and whether its camera and microphone are on, until the server has taken it. */
import type { Connection } from './connection.ts';
import { type Presence, profileOf } from './page.ts';

const RETRY_MS = 2_000;

export class Announcement {
  readonly #connection: Connection;
  readonly #presence: () => Presence;
  /** What the room knows of us, as far as we have told it. */
  #told = '';
  #busy = false;
  #stopped = false;
  #retry: ReturnType<typeof setTimeout> | undefined;

  constructor(connection: Connection, presence: () => Presence) {
    this.#connection = connection;
    this.#presence = presence;
  }

  /** It was part of the request that took the seat. */
  assume(presence: Presence): void {
    this.#told = JSON.stringify(profileOf(presence));
  }

  async send(): Promise<void> {
    clearTimeout(this.#retry);
    if (this.#busy || this.#stopped) return;
    const profile = profileOf(this.#presence());
    const telling = JSON.stringify(profile);
    if (telling === this.#told) return;
    this.#busy = true;
    const answer = await this.#connection.request('profile', profile);
    this.#busy = false;
    if (answer.ok) {
      this.#told = telling;
      // It may have changed meanwhile.
      return this.send();
    }
    this.#retry = setTimeout(() => void this.send(), answer.error.retryAfterMs ?? RETRY_MS);
  }

  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#retry);
  }
}
