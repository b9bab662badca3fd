/** Statistics of one connection, from the browser's counters. */
import type { PageClock } from '../runtime.ts';

/** Statistics of one connection. */
export interface PeerStats {
  /** Milliseconds to the other browser and back; null before the first measurement. */
  readonly roundTripMs: number | null;
  /** Bits per second of audio and video since the last call; 0 at the first. */
  readonly sentBitsPerSecond: number;
  /** The same for the other direction. */
  readonly receivedBitsPerSecond: number;
  /** Share of packets lost since the last call, from 0 to 1. */
  readonly lossRate: number;
  /** `relay`: through a TURN server. Null while nothing is connected. */
  readonly route: 'direct' | 'relay' | null;
  /** Transport protocol to the other browser, or to the TURN server. */
  readonly transport: 'udp' | 'tcp' | null;
  /** Frames of camera and screen, since the connection began. */
  readonly framesDecoded: number;
  /** Of audio and video, since the connection began. */
  readonly bytesReceived: number;
}

/** The fields of the report's entries that are used here. An entry of a `type` has some of them. */
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

/** Keeps the previous counters of one connection, to compute rates. */
export class Sampler {
  readonly #clock: PageClock;
  #before: readonly number[] | undefined;

  constructor(clock: PageClock) {
    this.#clock = clock;
  }

  /** @param report null when there is no connection. */
  read(report: RTCStatsReport | null): PeerStats {
    // Cast: the DOM types do not declare the entries of a report.
    const entries = (report ?? new Map()) as Entries;
    const count = (type: string, name: Counter): number => {
      let sum = 0;
      for (const entry of entries.values()) if (entry.type === type) sum += entry[name] ?? 0;
      return sum;
    };
    // Per RTP stream, not of the transport: an ICE restart resets transport counters, and not every browser has them.
    const bytesReceived = count('inbound-rtp', 'bytesReceived');
    const now = [
      this.#clock.monotonic(),
      count('outbound-rtp', 'bytesSent'),
      bytesReceived,
      count('inbound-rtp', 'packetsLost'),
      count('inbound-rtp', 'packetsReceived'),
    ];
    // At least 0: the counters of a new connection start at 0.
    const grown = now.map((value, index) => Math.max(0, value - (this.#before?.[index] ?? value)));
    this.#before = now;
    const [ms = 0, sent = 0, received = 0, lost = 0, arrived = 0] = grown;
    return {
      ...routeOf(entries),
      sentBitsPerSecond: Math.round((sent * 8000) / (ms || 1)),
      receivedBitsPerSecond: Math.round((received * 8000) / (ms || 1)),
      lossRate: lost / (lost + arrived || 1),
      framesDecoded: count('inbound-rtp', 'framesDecoded'),
      bytesReceived,
    };
  }
}

function routeOf(
  entries: ReadonlyMap<string | undefined, Entry>,
): Pick<PeerStats, 'roundTripMs' | 'route' | 'transport'> {
  const all = [...entries.values()];
  const transport = all.find(({ type }) => type === 'transport');
  // Firefox marks the candidate pair instead.
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
