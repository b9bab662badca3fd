/** What all connections of a mesh share. */
import type { Emitter } from '../emitter.ts';
import type { Room } from '../room.ts';
import type { PageClock } from '../runtime.ts';
import type { MeshEvents } from './mesh.ts';

/** What is sent to every peer. */
export interface Outgoing {
  audio: MediaStreamTrack | null;
  video: MediaStreamTrack | null;
  screen: MediaStream | null;
  /**
   * Empty streams, for their ids alone: tracks that are sent with the same stream id (`msid`) are played in sync. All
   * screens have one id: after a negotiation Chromium sets a sender back to the first id it ever had, so a share with
   * another id would be negotiated twice.
   */
  readonly cameraId: MediaStream;
  readonly screenId: MediaStream;
}

export interface MeshContext {
  readonly room: Room;
  readonly events: Emitter<MeshEvents>;
  readonly outgoing: Outgoing;
  readonly clock: PageClock;
  /** Id of this mesh, and so of this page load: sent with every signal. */
  readonly page: string;
  /** Number of the last offer of this page. */
  offerCount: number;
  readonly configuration: () => RTCConfiguration;
}
