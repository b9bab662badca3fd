/** A WebRTC connection with every other member of a room. */
import type { Json, Member, UserId } from '../../protocol/index.ts';
import type { Subject } from '../emitter.ts';
import type { PeerStats } from './stats.ts';

/** Of a camera's and microphone's tracks there is one of each kind. */
export type MediaKind = 'audio' | 'video';

/** How `mesh` connects. Everything has a default. */
export interface MeshOptions {
  /** Sent to everyone: at most one audio and one video track of it. */
  readonly stream?: MediaStream | null;
  /** `relay` lets nothing through but TURN servers. Default `all`. */
  readonly iceTransportPolicy?: RTCIceTransportPolicy;
}

/**
 * - `connecting`: for the first time, or anew
 * - `connected`
 * - `failed`: no way through was found; it is being tried again
 */
export type PeerState = 'connecting' | 'connected' | 'failed';

/** Another member, and the connection with it. */
export interface Peer {
  /** Of the member. */
  readonly userId: UserId;
  /** As the room has it now. */
  readonly member: Member;
  /** How far the connection has come. */
  readonly state: PeerState;
  /** Their camera and microphone. Always the same object; its tracks are others after a refresh of their page. */
  readonly stream: MediaStream;
  /** What they share of their screen; null while they do not. */
  readonly screen: MediaStream | null;
  /** Whether `send` reaches them: they use this SDK, and the data channel is open. */
  readonly canSend: boolean;
  /** Sends JSON of at most 64 KiB over the data channel. @returns false when it could not. */
  send(data: Json): boolean;
  /** Looks at the browser's counters. Rates are those since the last look. */
  stats(): Promise<PeerStats>;
}

/** A STUN or TURN server did not do what was asked of it; 401 means that it does not accept the credentials. */
export interface IceFault {
  /** Of that server; empty where the browser itself has failed. */
  readonly url: string;
  /** Of STUN and TURN, such as 401; 701 when the server could not be reached. */
  readonly code: number;
  /** For logs. */
  readonly text: string;
}

/** What a mesh tells, by name. */
export interface MeshEvents {
  /** A member to be connected with. */
  peer: Peer;
  /** `state`, `stream`, `screen`, `canSend` or `member` of a peer has changed. */
  change: Peer;
  /** The member is not there any more. */
  gone: Peer;
  /** Over the data channel. */
  data: {
    /** Who has sent it. */
    readonly peer: Peer;
    /** Whatever they gave to `send`. */
    readonly data: Json;
  };
  /** A STUN or TURN server refuses, or cannot be reached. */
  fault: IceFault;
  /** What is shared from now on; null when that was ended, by `share` or by the browser's own button. */
  share: MediaStream | null;
}

/** What `mesh` gives. */
export interface Mesh extends Subject<MeshEvents> {
  /** By the id of the user. Those who were there before the mesh come with the event `peer` too. */
  readonly peers: ReadonlyMap<UserId, Peer>;
  /** Sends the tracks of another stream, or nothing. No new negotiation. */
  setStream(stream: MediaStream | null): void;
  /** Sends another track, or none, in the place of the one of that kind. No new negotiation. */
  replaceTrack(kind: MediaKind, track: MediaStreamTrack | null): void;
  /** Sends a screen beside the camera, to whoever is there and whoever comes; null ends it. */
  share(screen: MediaStream | null): void;
  /** Sends to every peer. @returns those that it could not be sent to. */
  send(data: Json): Peer[];
  /** Ends every connection. The room goes on. It happens by itself when the room ends. */
  close(): void;
}
