/** What the browser's counters tell of one connection. */

export interface PeerStats {
  /** Milliseconds to the other browser and back; null before it was measured. */
  readonly roundTripMs: number | null;
  /** Bits per second since the last call; 0 on the first. */
  readonly sentBitsPerSecond: number;
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
