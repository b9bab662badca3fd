/** The state shared by all connections of a mesh. */
import type { Emitter } from '../emitter.ts';
import type { Room } from '../room.ts';
import type { PageClock } from '../runtime.ts';
import type { MeshEvents } from './mesh.ts';

/** The media sent to every peer. */
export interface Outgoing {
  audio: MediaStreamTrack | null;
  video: MediaStreamTrack | null;
  screen: MediaStream | null;
  /**
   * Empty streams, used only for their ids: tracks with the same stream id (`msid`) are played in sync. All screens have
   * the same id: after a negotiation Chromium resets a sender to its first id, so a share with another id would be
   * negotiated twice.
   */
  readonly cameraId: MediaStream;
  readonly screenId: MediaStream;
}

export interface MeshContext {
  readonly room: Room;
  readonly events: Emitter<MeshEvents>;
  readonly outgoing: Outgoing;
  readonly clock: PageClock;
  /** Id of this mesh, new after every page load: sent with every signal. */
  readonly page: string;
  /** Number of the last offer of this page. */
  offerCount: number;
  readonly configuration: () => RTCConfiguration;
}
