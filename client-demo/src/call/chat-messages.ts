/**
 * Sends and receives chat messages `{ id, text }`: over the data channel, and through the server to peers without one. A
 * message that arrives both ways is shown once, by its `id`.
 */
import type { Json, Mesh, Room, UserId } from '../../../src/client/index.ts';
import { thrownText } from '../texts/texts.ts';
import { MessageLimit } from './message-limit.ts';
import { field } from './person.ts';

/** `failure` says in a sentence why a peer was not reached, `reached` whether any peer was. */
export interface SendResult {
  readonly reached: boolean;
  readonly failure: string | null;
}

const MAX_REMEMBERED = 1_000;
/** Above the limit of the page's own input: another program may send any text. */
const MAX_LETTERS = 4_000;
const MAX_ID_LENGTH = 64;

/** A member, or null for the server. */
export type Sender = UserId | null;

/** Receives the messages of others. */
export interface ChatListener {
  heard(from: Sender, text: string): void;
  /** The sender is over the rate limit: messages are dropped from here on. */
  flooded(from: Sender): void;
}

export class ChatMessages {
  readonly #room: Room;
  readonly #mesh: Mesh;
  readonly #listening: ChatListener;
  readonly #gate = new MessageLimit();
  readonly #seen = new Set<string>();

  constructor(room: Room, mesh: Mesh, listening: ChatListener) {
    this.#room = room;
    this.#mesh = mesh;
    this.#listening = listening;
    mesh.on('data', ({ peer, data }) => this.#hear(peer.userId, data));
    room.on('message', ({ from, data }) => this.#hear(from, data));
  }

  async say(text: string): Promise<SendResult> {
    const message = { id: crypto.getRandomValues(new Uint32Array(2)).join('-'), text };
    let reached = false;
    try {
      const missed = this.#mesh.send(message);
      reached = missed.length < this.#mesh.peers.size;
      if (missed.length > 0) await this.#room.message(message);
      return { reached: true, failure: null };
    } catch (error) {
      return { reached, failure: thrownText(error) };
    }
  }

  #hear(from: Sender, data: Json): void {
    const text = typeof data === 'string' ? data : field(data, 'text');
    // The server sends a message to its sender, too.
    if (typeof text !== 'string' || from === this.#room.self.userId) return;
    if (text.trim() === '') return;
    const id = field(data, 'id');
    if (typeof id === 'string' && id.length <= MAX_ID_LENGTH && this.#isKnown(`${from} ${id}`)) return;
    const pass = this.#gate.pass(from, performance.now());
    if (pass === 'show') this.#listening.heard(from, text.slice(0, MAX_LETTERS));
    else if (pass === 'warn') this.#listening.flooded(from);
  }

  #isKnown(key: string): boolean {
    if (this.#seen.has(key)) return true;
    this.#seen.add(key);
    const [oldest] = this.#seen;
    if (this.#seen.size > MAX_REMEMBERED && oldest !== undefined) this.#seen.delete(oldest);
    return false;
  }
}
