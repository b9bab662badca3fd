/** What all connections of a mesh have in common. */
import type { Emitter } from '../emitter.ts';
import type { Room } from '../room.ts';
import type { MeshEvents } from './mesh.ts';

/** What we send to everyone. */
export interface Outgoing {
  audio: MediaStreamTrack | null;
  video: MediaStreamTrack | null;
  screen: MediaStream | null;
  /** Holds nothing. Tracks that are sent under the name of one stream are played in step with each other. */
  readonly camera: MediaStream;
}

export interface Shared {
  readonly room: Room;
  readonly events: Emitter<MeshEvents>;
  readonly outgoing: Outgoing;
  readonly page: string;
  /** How many offers were made by this page: their numbers. */
  offers: number;
  readonly configuration: () => RTCConfiguration;
}
