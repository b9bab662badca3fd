/** What the browser's counters tell of one connection. */

export interface PeerStats {
  /** Milliseconds to the other browser and back; null before it was measured. */
  readonly roundTripMs: number | null;
  /** Bits per second of sound and pictures since the last call; 0 on the first. */
  readonly sentBitsPerSecond: number;
  /** The same for what comes in. */
  readonly receivedBitsPerSecond: number;
  /** Share of packets that did not arrive since the last call, 0 to 1. */
  readonly lossRate: number;
  /** `relay`: through a TURN server. Null while nothing is connected. */
  readonly route: 'direct' | 'relay' | null;
  /** Of the way to the other browser, or to the TURN server. */
  readonly transport: 'udp' | 'tcp' | null;
  /** Pictures of the camera and the screen that were decoded since the connection began. */
  readonly framesDecoded: number;
  /** Of sound and pictures, since the connection began. */
  readonly bytesReceived: number;
}

/** As much of the browser's entries as is looked at here; `type` tells which fields an entry has. */
interface Entry extends Partial<Record<Counter, number>> {
  readonly type: string;
  readonly selectedCandidatePairId?: string;
  readonly selected?: boolean;
  readonly localCandidateId?: string;
  readonly remoteCandidateId?: string;
  /** Seconds. */
  readonly currentRoundTripTime?: number;
  readonly candidateType?: string;
  readonly protocol?: string;
  /** To the TURN server. */
  readonly relayProtocol?: string;
}

type Counter = 'bytesSent' | 'bytesReceived' | 'packetsLost' | 'packetsReceived' | 'framesDecoded';
type Entries = ReadonlyMap<string | undefined, Entry>;

/** Remembers the last look at one connection, so that there is something to compare the next one with. */
export class Sampler {
  #before: readonly number[] | undefined;

  /** @param report null when there is no connection. */
  read(report: RTCStatsReport | null): PeerStats {
    // The DOM types know of no entries.
    const entries = (report ?? new Map()) as Entries;
    const count = (type: string, name: Counter): number => {
      let sum = 0;
      for (const entry of entries.values()) if (entry.type === type) sum += entry[name] ?? 0;
      return sum;
    };
    // Not those of the transport: a way that is looked for anew begins to count anew, and not every browser tells them.
    const bytesReceived = count('inbound-rtp', 'bytesReceived');
    const now = [
      performance.now(),
      count('outbound-rtp', 'bytesSent'),
      bytesReceived,
      count('inbound-rtp', 'packetsLost'),
      count('inbound-rtp', 'packetsReceived'),
    ];
    // The counters of a new connection begin at 0 again: nothing has grown then.
    const grown = now.map((value, index) => Math.max(0, value - (this.#before?.[index] ?? value)));
    this.#before = now;
    const [ms = 0, sent = 0, received = 0, lost = 0, arrived = 0] = grown;
    return {
      ...wayOf(entries),
      sentBitsPerSecond: Math.round((sent * 8000) / (ms || 1)),
      receivedBitsPerSecond: Math.round((received * 8000) / (ms || 1)),
      lossRate: lost / (lost + arrived || 1),
      framesDecoded: count('inbound-rtp', 'framesDecoded'),
      bytesReceived,
    };
  }
}

function wayOf(
  entries: ReadonlyMap<string | undefined, Entry>,
): Pick<PeerStats, 'roundTripMs' | 'route' | 'transport'> {
  const all = [...entries.values()];
  const transport = all.find(({ type }) => type === 'transport');
  // Firefox marks the pair instead.
  const pair = entries.get(transport?.selectedCandidatePairId) ?? all.find(({ selected }) => selected);
  const ends = [entries.get(pair?.localCandidateId), entries.get(pair?.remoteCandidateId)];
  const [local] = ends;
  const seconds = pair?.currentRoundTripTime;
  return {
    roundTripMs: seconds === undefined ? null : seconds * 1000,
    route: local ? (ends.some((end) => end?.candidateType === 'relay') ? 'relay' : 'direct') : null,
    transport: local ? ((local.relayProtocol ?? local.protocol) === 'udp' ? 'udp' : 'tcp') : null,
  };
}
