/** Periodic heartbeats: they keep the seat, detect a dead connection, and return the server's revision of the room. */
import type { Stop } from '../support/clock.ts';
import type { Connection } from './connection.ts';
import type { PageClock } from './runtime.ts';

export interface RevisionSource {
  /** Our revision of the room; undefined in no room. */
  readonly rev: number | undefined;
  /** @param rev the server's revision of our room; null: it has us in no room */
  compare(rev: number | null): void;
}

export class Heartbeat {
  readonly #connection: Connection;
  readonly #room: RevisionSource;
  readonly #clock: PageClock;
  #stop: Stop | undefined;

  constructor(connection: Connection, room: RevisionSource, clock: PageClock) {
    this.#connection = connection;
    this.#room = room;
    this.#clock = clock;
  }

  start(everyMs: number, timeoutMs: number): void {
    this.stop();
    this.#stop = this.#clock.every(everyMs, () => void this.beat(timeoutMs));
  }

  stop(): void {
    this.#stop?.();
    this.#stop = undefined;
  }

  /** Sends one heartbeat now. */
  async beat(timeoutMs: number): Promise<void> {
    const { rev } = this.#room;
    const reply = await this.#connection.heartbeat(rev === undefined ? {} : { rev }, timeoutMs);
    if (reply) this.#room.compare(reply.rev);
  }
}
