/** What all connections of a mesh have in common. */
import type { Emitter } from '../emitter.ts';
import type { Room } from '../room.ts';
import type { MeshEvents } from './mesh.ts';

/** What we send to everyone. */
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
  readonly page: string;
  /** How many offers were made by this page: their numbers. */
  offers: number;
  readonly configuration: () => RTCConfiguration;
}
