/**
 * `window.signalboxDemo`: read-only access to the call, for tests and for the browser's console. `rev` is the revision of
 * the room, `peers()` has one entry for every other member.
 */
import type { ConnectionState, PeerState, PeerStats } from '../../src/client/index.ts';

export interface SignalboxDemo {
  readonly userId: string | null;
  readonly ref: string | null;
  readonly rev: number | null;
  /** State of the connection to the server. */
  readonly state: ConnectionState;
  peers(): Promise<PeerReport[]>;
}

export interface PeerReport {
  readonly userId: string;
  readonly connectionState: PeerState;
  /** Whether a TURN server relays; null while not connected. */
  readonly route: PeerStats['route'];
  /** Whether the data channel is open. */
  readonly canSend: boolean;
  /** Whether they share a screen. */
  readonly sharesScreen: boolean;
  /** Received frames of camera and screen; 0 while there are none. */
  readonly framesDecoded: number;
  /** Received audio and video. */
  readonly bytesReceived: number;
}
