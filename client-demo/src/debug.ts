/**
 * `window.signalboxDemo`: a window into the call for tests and for curious people at the browser's console. It only
 * reads. `rev` is the revision of the room as applied, `peers()` one entry for every connection with another member.
 */
import type { UserId } from '../../src/protocol/index.ts';
import type { Pair } from './pair.ts';

export interface PeerReport {
  readonly userId: string;
  readonly connectionState: RTCPeerConnectionState;
  /** Of the picture that comes in; 0 while there is none. */
  readonly framesDecoded: number;
  /** Of sound and picture that come in. */
  readonly bytesReceived: number;
}

export interface SignalboxDemo {
  readonly userId: string | null;
  readonly ref: string | null;
  readonly rev: number | null;
  peers(): Promise<PeerReport[]>;
}

declare global {
  interface Window {
    signalboxDemo?: SignalboxDemo;
  }
}

export async function report(userId: UserId, pair: Pair): Promise<PeerReport> {
  let framesDecoded = 0;
  let bytesReceived = 0;
  for (const entry of (await pair.stats()).values()) {
    if (entry.type !== 'inbound-rtp') continue;
    framesDecoded += Number(entry.framesDecoded ?? 0);
    bytesReceived += Number(entry.bytesReceived ?? 0);
  }
  return { userId, connectionState: pair.state, framesDecoded, bytesReceived };
}
