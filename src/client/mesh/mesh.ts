/** A WebRTC connection with every other member of a room. */
import type { Json, Member, UserId } from '../../protocol/index.ts';
import type { Subject } from '../emitter.ts';
import type { PeerStats } from './stats.ts';

export type MediaKind = 'audio' | 'video';

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

export interface Peer {
  readonly userId: UserId;
  readonly member: Member;
  readonly state: PeerState;
  /** Their camera and microphone. Always the same object; its tracks are others after a refresh of their page. */
  readonly stream: MediaStream;
  /** What they share of their screen; null while they do not. */
  readonly screen: MediaStream | null;
  /** Whether `send` reaches them: they use this SDK, and the data channel is open. */
  readonly canSend: boolean;
  /** Sends JSON of at most 64 KiB over the data channel. @returns false when it could not. */
  send(data: Json): boolean;
  stats(): Promise<PeerStats>;
}

/** A STUN or TURN server did not do what was asked of it; 401 means that it does not accept the credentials. */
export interface IceFault {
  readonly url: string;
  readonly code: number;
  readonly text: string;
}

export interface MeshEvents {
  /** A member to be connected with. */
  peer: Peer;
  /** `state`, `stream`, `screen`, `canSend` or `member` of a peer has changed. */
  change: Peer;
  /** The member is not there any more. */
  gone: Peer;
  /** Over the data channel. */
  data: { readonly peer: Peer; readonly data: Json };
  fault: IceFault;
  /** What is shared from now on; null when that was ended, by `share` or by the browser's own button. */
  share: MediaStream | null;
}

export interface Mesh extends Subject<MeshEvents> {
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
