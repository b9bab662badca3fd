/** What the browser's counters tell of one connection. */

export interface PeerStats {
  /** Milliseconds to the other browser and back; null before it was measured. */
  readonly roundTripMs: number | null;
  /** Bits per second since the last call; 0 on the first. */
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
  /** Since the connection began. */
  readonly bytesReceived: number;
}

/** What is added up over all that is sent and received. */
interface Sums {
  at: number;
  sent: number;
  received: number;
  lost: number;
  arrived: number;
  framesDecoded: number;
}

/** The fields of the browser's entries that are looked at here; `type` tells which of them an entry has. */
interface Entry {
  readonly type: string;
  readonly timestamp: number;
  readonly bytesSent?: number;
  readonly bytesReceived?: number;
  readonly packetsLost?: number;
  readonly packetsReceived?: number;
  readonly framesDecoded?: number;
  readonly selectedCandidatePairId?: string;
  readonly localCandidateId: string;
  readonly remoteCandidateId: string;
  readonly currentRoundTripTime?: number;
  readonly candidateType?: string;
  readonly protocol?: 'udp' | 'tcp';
  readonly relayProtocol?: 'udp' | 'tcp' | 'tls';
}

type Report = ReadonlyMap<string, Entry>;

/** Remembers the last look at one connection, so that there is something to compare the next one with. */
export class Sampler {
  #before: Sums | undefined;

  /** @param report null when there is no connection. */
  read(report: RTCStatsReport | null): PeerStats {
    // The DOM types know of no entries.
    const entries: Report = (report ?? new Map()) as Report;
    const now = sum(entries);
    const before = this.#before ?? now;
    this.#before = now;
    // The counters of a new connection begin at 0 again: a rate is never negative.
    const grown = (name: keyof Sums): number => Math.max(0, now[name] - before[name]);
    const rate = (name: 'sent' | 'received'): number => Math.round((grown(name) * 8000) / (grown('at') || Infinity));
    return {
      ...routeOf(entries),
      sentBitsPerSecond: rate('sent'),
      receivedBitsPerSecond: rate('received'),
      lossRate: grown('lost') / (grown('lost') + grown('arrived') || 1),
      framesDecoded: now.framesDecoded,
      bytesReceived: now.received,
    };
  }
}

function sum(entries: Report): Sums {
  const sums: Sums = { at: 0, sent: 0, received: 0, lost: 0, arrived: 0, framesDecoded: 0 };
  for (const entry of entries.values()) {
    if (entry.type === 'transport') {
      sums.at = entry.timestamp;
      sums.sent += entry.bytesSent ?? 0;
      sums.received += entry.bytesReceived ?? 0;
    } else if (entry.type === 'inbound-rtp') {
      sums.lost += entry.packetsLost ?? 0;
      sums.arrived += entry.packetsReceived ?? 0;
      sums.framesDecoded += entry.framesDecoded ?? 0;
    }
  }
  return sums;
}

function routeOf(entries: Report): Pick<PeerStats, 'roundTripMs' | 'route' | 'transport'> {
  const transport = [...entries.values()].find(({ type }) => type === 'transport');
  const pair = entries.get(transport?.selectedCandidatePairId ?? '');
  const local = entries.get(pair?.localCandidateId ?? '');
  if (!pair || !local) return { roundTripMs: null, route: null, transport: null };
  const isRelay = [local, entries.get(pair.remoteCandidateId)].some((one) => one?.candidateType === 'relay');
  const { currentRoundTripTime: seconds } = pair;
  return {
    roundTripMs: seconds === undefined ? null : seconds * 1000,
    route: isRelay ? 'relay' : 'direct',
    transport: (local.relayProtocol ?? local.protocol) === 'udp' ? 'udp' : 'tcp',
  };
}
