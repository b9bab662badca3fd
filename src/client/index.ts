/** The SDK: rooms by code, and WebRTC between their members. Runs in browsers and, except for the mesh, in Node. */

export { normaliseTypedCode } from '../protocol/ids.ts';
export type {
  CloseReason,
  ErrorCode,
  IceServer,
  Json,
  LeaveReason,
  Member,
  Profile,
  RoomCode,
  RoomInfo,
  RoomRef,
  RoomSnapshot,
  UserId,
} from '../protocol/index.ts';
export type {
  Client,
  ClientEnding,
  ClientEvents,
  ConnectionState,
  ConnectOptions,
  CreateOptions,
  JoinOptions,
} from './client.ts';
export { connect } from './connect.ts';
export type { Subject, Unsubscribe } from './emitter.ts';
export { type ClientErrorCode, SignalboxError } from './errors.ts';
export type { Backoff } from './full-jitter.ts';
export type { IceFault, MediaKind, Mesh, MeshEvents, MeshOptions, Peer, PeerState } from './mesh/mesh.ts';
export { mesh } from './mesh/room-mesh.ts';
export type { PeerStats } from './mesh/stats.ts';
export type { MemberEvent, Room, RoomEnding, RoomEvents, RoomMessage } from './room.ts';
export { type ResumeStore, tabStore } from './token-store.ts';
