/**
 * `window.signalboxDemo`: a window into the call for tests and for curious people at the browser's console. It only
 * reads. `rev` is the revision of the room as applied, `peers()` one entry for every connection with another member.
 */
export interface SignalboxDemo {
  readonly userId: string | null;
  readonly ref: string | null;
  readonly rev: number | null;
  peers(): Promise<PeerReport[]>;
}

export interface PeerReport {
  readonly userId: string;
  readonly connectionState: 'new' | 'connecting' | 'connected' | 'disconnected' | 'failed' | 'closed';
  /** Of the picture that comes in; 0 while there is none. */
  readonly framesDecoded: number;
  /** Of sound and picture that come in. */
  readonly bytesReceived: number;
}
