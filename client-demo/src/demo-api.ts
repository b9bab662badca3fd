/**
 * `window.signalboxDemo`: a window into the call for tests and for curious people at the browser's console. It only
 * reads. `rev` is the revision of the room as applied, `peers()` one entry for every other member.
 */
import type { ConnectionState, PeerState, PeerStats } from '../../src/client/index.ts';

export interface SignalboxDemo {
  readonly userId: string | null;
  readonly ref: string | null;
  readonly rev: number | null;
  /** Of the connection to the server. */
  readonly state: ConnectionState;
  peers(): Promise<PeerReport[]>;
}

export interface PeerReport {
  readonly userId: string;
  readonly connectionState: PeerState;
  /** Through a TURN server, or not; null while nothing is connected. */
  readonly route: PeerStats['route'];
  /** Whether the data channel is open. */
  readonly canSend: boolean;
  /** Whether they share a screen. */
  readonly sharesScreen: boolean;
  /** Of the pictures that come in, camera and screen; 0 while there is none. */
  readonly framesDecoded: number;
  /** Of sound and picture that come in. */
  readonly bytesReceived: number;
}
