/**
 * Where the other nodes answer over HTTP, as they announce again and again. A node that has lost Redis keeps what it last
 * heard, and can ask them whether they have lost it too.
 */
import { z } from 'zod';
import { NODE_ID_PATTERN } from '../../protocol/ids.ts';
import { HTTP_ADDRESS } from '../../support/own-addresses.ts';

/** Announcements of this node that it hears itself, during which a node that is not heard has ended. */
const MAX_MISSED = 3;
const MAX_ADDRESSES = 8;
/** Every client of Redis can announce: so many nodes are remembered and asked at most. One that is ready is enough. */
const MAX_PEERS = 16;

const announcement = z.object({
  nodeId: z.string().regex(NODE_ID_PATTERN),
  // A host and a port: nobody can make this node ask for anything but its readiness.
  addresses: z.array(z.string().regex(HTTP_ADDRESS)).max(MAX_ADDRESSES),
});

export class Peers {
  readonly #nodeId: string;
  readonly #publish: (text: string) => void;
  readonly #peers = new Map<string, { addresses: readonly string[]; missed: number }>();

  constructor(nodeId: string, publish: (text: string) => void) {
    this.#nodeId = nodeId;
    this.#publish = publish;
  }

  /** All of them, of the nodes that were there when Redis was last reached. */
  get addresses(): readonly string[] {
    return [...this.#peers.values()].flatMap(({ addresses }) => addresses);
  }

  announce(addresses: readonly string[]): void {
    this.#publish(JSON.stringify({ nodeId: this.#nodeId, addresses: addresses.slice(0, MAX_ADDRESSES) }));
  }

  /** @returns whether it was an announcement. */
  receive(text: string): boolean {
    const { data } = announcement.safeParse(parse(text));
    if (data === undefined) return false;
    if (data.nodeId === this.#nodeId) this.#forgetEnded();
    else if (this.#peers.has(data.nodeId) || this.#peers.size < MAX_PEERS)
      this.#peers.set(data.nodeId, { addresses: data.addresses, missed: 0 });
    return true;
  }

  /** Redis carries announcements now: whoever is there is heard. */
  #forgetEnded(): void {
    for (const [nodeId, peer] of this.#peers) {
      peer.missed += 1;
      if (peer.missed > MAX_MISSED) this.#peers.delete(nodeId);
    }
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
