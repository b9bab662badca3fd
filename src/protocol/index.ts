/** The protocol as others use it: types of every message, the errors, the limits, and reading a typed code. */
export { ERRORS, type ErrorBody, type ErrorCode } from './errors.ts';
export type {
  Acknowledgement,
  ClientToServerEvents,
  Push,
  PushName,
  Reply,
  RequestInput,
  RequestName,
  RequestPayload,
  ServerToClientEvents,
} from './events.ts';
export {
  type NodeId,
  normaliseTypedCode,
  type RoomCode,
  type RoomRef,
  type SessionNumber,
  type UserId,
} from './ids.ts';
export { LIMITS, PROTOCOL_VERSION } from './limits.ts';
export type { AdvertisedLimits, CloseReason, IceServer, LeaveReason } from './messages.ts';
export type { Json, Member, Profile, RoomInfo, RoomSnapshot } from './snapshot.ts';
