/**
 * The SDK tells rates since the last look, whoever has looked. Here anybody may look at any time without disturbing
 * what is measured for the bars.
 */
import type { Peer, PeerStats } from '../../../src/client/index.ts';

/** What came in since the last measurement. */
interface Since {
  at: number;
  bytes: number;
  /** At the last look. */
  seenBytes: number;
  /** Every look's share of what was lost counts as much as what it saw come in. */
  weight: number;
  lost: number;
}

export class Meter {
  readonly #since = new WeakMap<Peer, Since>();

  /** Rates are those since the last look, of whomever. */
  async look(peer: Peer): Promise<PeerStats> {
    const stats = await peer.stats();
    const { bytesReceived, lossRate } = stats;
    const since = this.#since.get(peer) ?? begin(bytesReceived);
    this.#since.set(peer, since);
    const weight = Math.max(1, bytesReceived - since.seenBytes);
    since.seenBytes = bytesReceived;
    since.weight += weight;
    since.lost += weight * lossRate;
    return stats;
  }

  /** Rates of what comes in are those since the last measurement. */
  async measure(peer: Peer): Promise<PeerStats> {
    const stats = await this.look(peer);
    const since = this.#since.get(peer) ?? begin(stats.bytesReceived);
    this.#since.set(peer, begin(stats.bytesReceived));
    const ms = performance.now() - since.at;
    // The counters of a new connection begin at 0 again.
    const grown = Math.max(0, stats.bytesReceived - since.bytes);
    return {
      ...stats,
      receivedBitsPerSecond: ms > 0 ? (grown * 8000) / ms : 0,
      lossRate: since.weight > 0 ? since.lost / since.weight : stats.lossRate,
    };
  }
}

const begin = (bytes: number): Since => ({ at: performance.now(), bytes, seenBytes: bytes, weight: 0, lost: 0 });
