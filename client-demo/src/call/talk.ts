/**
 * What is said by typing: `{ id, text }`, from browser to browser, and through the server for those who cannot be
 * reached that way. Whoever gets it both ways shows it once: `id` tells.
 */
import type { Json, Mesh, Room, UserId } from '../../../src/client/index.ts';
import { thrownText } from '../texts/texts.ts';
import { field } from './person.ts';

/** How it went: `failure` says in a sentence why somebody has not got it, `reached` whether anybody has. */
export interface Saying {
  readonly reached: boolean;
  readonly failure: string | null;
}

const MOST_REMEMBERED = 1_000;
/** Our own field lets through less; another program may send anything. */
const MOST_LETTERS = 4_000;

export class Talk {
  readonly #room: Room;
  readonly #mesh: Mesh;
  readonly #heard: (from: UserId, text: string) => void;
  readonly #seen = new Set<string>();

  constructor(room: Room, mesh: Mesh, heard: (from: UserId, text: string) => void) {
    this.#room = room;
    this.#mesh = mesh;
    this.#heard = heard;
    mesh.on('data', ({ peer, data }) => this.#hear(peer.userId, data));
    room.on('message', ({ from, data }) => this.#hear(from, data));
  }

  async say(text: string): Promise<Saying> {
    const message = { id: crypto.getRandomValues(new Uint32Array(2)).join('-'), text };
    const missed = this.#mesh.send(message);
    if (missed.length === 0) return { reached: true, failure: null };
    try {
      await this.#room.message(message);
      return { reached: true, failure: null };
    } catch (error) {
      return { reached: missed.length < this.#mesh.peers.size, failure: thrownText(error) };
    }
  }

  #hear(from: UserId, data: Json): void {
    const text = typeof data === 'string' ? data : field(data, 'text');
    // The server sends everybody's messages to everybody, ours too.
    if (typeof text !== 'string' || from === this.#room.self.userId) return;
    const id = field(data, 'id');
    if (typeof id === 'string' && this.#isKnown(`${from} ${id}`)) return;
    this.#heard(from, text.slice(0, MOST_LETTERS));
  }

  #isKnown(key: string): boolean {
    if (this.#seen.has(key)) return true;
    this.#seen.add(key);
    const [oldest] = this.#seen;
    if (this.#seen.size > MOST_REMEMBERED && oldest !== undefined) this.#seen.delete(oldest);
    return false;
  }
}
