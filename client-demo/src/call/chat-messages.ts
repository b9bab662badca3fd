/**
 * What is said by typing: `{ id, text }`, from browser to browser, and through the server for those who cannot be
 * reached that way. Whoever gets it both ways shows it once: `id` tells.
 */
import type { Json, Mesh, Room, UserId } from '../../../src/client/index.ts';
import { thrownText } from '../texts/texts.ts';
import { MessageLimit } from './message-limit.ts';
import { field } from './person.ts';

/** How it went: `failure` says in a sentence why somebody has not got it, `reached` whether anybody has. */
export interface SendResult {
  readonly reached: boolean;
  readonly failure: string | null;
}

const MAX_REMEMBERED = 1_000;
/** Our own field lets through less; another program may send anything. */
const MAX_LETTERS = 4_000;
const LONGEST_ID = 64;

/** Who says it: a member, or the server, which is null. */
export type Sender = UserId | null;

/** What comes in of others. */
export interface ChatListener {
  heard(from: Sender, text: string): void;
  /** They write faster than anybody reads: some of it is left out from here on. */
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
    // The server sends everybody's messages to everybody, ours too.
    if (typeof text !== 'string' || from === this.#room.self.userId) return;
    if (text.trim() === '') return;
    const id = field(data, 'id');
    if (typeof id === 'string' && id.length <= LONGEST_ID && this.#isKnown(`${from} ${id}`)) return;
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
