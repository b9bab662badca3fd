/**
 * The SDK's `stats()` gives rates since its last call. This meter lets several callers read them without disturbing the
 * measurement for the quality bars.
 */
import type { Peer, PeerStats } from '../../../src/client/index.ts';

/** Received since the last measurement. */
interface Since {
  at: number;
  bytes: number;
  /** At the last call. */
  seenBytes: number;
  /** Sum of the weights: each loss rate counts by the bytes received with it. */
  weight: number;
  lost: number;
}

export class Meter {
  readonly #since = new WeakMap<Peer, Since>();

  /** Rates since the last call of any caller. */
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

  /** Rates since the last measurement. */
  async measure(peer: Peer): Promise<PeerStats> {
    const stats = await this.look(peer);
    const since = this.#since.get(peer) ?? begin(stats.bytesReceived);
    this.#since.set(peer, begin(stats.bytesReceived));
    const ms = performance.now() - since.at;
    // The counters of a new connection start at 0.
    const grown = Math.max(0, stats.bytesReceived - since.bytes);
    return {
      ...stats,
      receivedBitsPerSecond: ms > 0 ? (grown * 8000) / ms : 0,
      lossRate: since.weight > 0 ? since.lost / since.weight : stats.lossRate,
    };
  }
}

const begin = (bytes: number): Since => ({ at: performance.now(), bytes, seenBytes: bytes, weight: 0, lost: 0 });
