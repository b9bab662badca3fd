/** The public types of the mesh: a WebRTC connection with every other member of a room. */
import type { Json, Member, UserId } from '../../protocol/index.ts';
import type { Subject } from '../emitter.ts';
import type { PeerStats } from './stats.ts';

/** Camera and microphone have one track of each kind. */
export type MediaKind = 'audio' | 'video';

/** How `mesh` connects. Everything has a default. */
export interface MeshOptions {
  /** Sent to every peer: its first audio and its first video track. */
  readonly stream?: MediaStream | null;
  /** `relay` allows TURN servers only. Default `all`. */
  readonly iceTransportPolicy?: RTCIceTransportPolicy;
}

/**
 * - `connecting`: for the first time, or again
 * - `connected`
 * - `failed`: no connection came up; it is being tried again
 */
export type PeerState = 'connecting' | 'connected' | 'failed';

/** Another member, and the connection with it. */
export interface Peer {
  /** The id of the member. */
  readonly userId: UserId;
  /** The member, as it is now. */
  readonly member: Member;
  /** The state of the connection. */
  readonly state: PeerState;
  /** Their camera and microphone. The object never changes; its tracks do, after a refresh of their page. */
  readonly stream: MediaStream;
  /** The screen that they share; null while they share none. */
  readonly screen: MediaStream | null;
  /** Whether `send` reaches them: they use this SDK, and the data channel is open. */
  readonly canSend: boolean;
  /** Sends JSON of at most 64 KiB over the data channel. @returns false when it could not. */
  send(data: Json): boolean;
  /** Reads the browser's counters. Rates are those since the last call. */
  stats(): Promise<PeerStats>;
}

/** An error of a STUN or TURN server; 401 means that it does not accept the credentials. */
export interface IceFault {
  /** Of that server; empty when the browser itself failed. */
  readonly url: string;
  /** The STUN error code, such as 401; 701 when the server could not be reached. */
  readonly code: number;
  /** For logs. */
  readonly text: string;
}

/** The events of a mesh, by name. */
export interface MeshEvents {
  /** Another member; the connection with it begins. */
  peer: Peer;
  /** `state`, `stream`, `screen`, `canSend` or `member` of a peer has changed. */
  change: Peer;
  /** The member has left. */
  gone: Peer;
  /** Over the data channel. */
  data: {
    /** The sender. */
    readonly peer: Peer;
    /** The argument of their `send`. */
    readonly data: Json;
  };
  /** A STUN or TURN server refuses, or cannot be reached. */
  fault: IceFault;
  /** The shared screen has changed; null when the share has ended, by `share` or by the browser's own button. */
  share: MediaStream | null;
}

/** What `mesh` returns. */
export interface Mesh extends Subject<MeshEvents> {
  /** By user id. The event `peer` reports members that joined before the mesh began, too. */
  readonly peers: ReadonlyMap<UserId, Peer>;
  /** Sends the tracks of another stream, or none. Without a new negotiation. */
  setStream(stream: MediaStream | null): void;
  /** Replaces the track of that kind by another one, or by none. Without a new negotiation. */
  replaceTrack(kind: MediaKind, track: MediaStreamTrack | null): void;
  /** Sends a screen beside the camera, to all present and future peers; null ends it. */
  share(screen: MediaStream | null): void;
  /** Sends to every peer. @returns the peers that it could not be sent to. */
  send(data: Json): Peer[];
  /** Closes every connection. The room goes on. When the room ends, the mesh is closed by itself. */
  close(): void;
}
