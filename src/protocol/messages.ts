/**
 * The table of messages: every request with its payload and its reply, every push with its body. The Socket.IO event maps,
 * the gateway's parsing and `docs/protocol.md` are derived from it.
 */
import { z } from 'zod';
import type { ErrorCode } from './errors.ts';
import { LIMITS } from './limits.ts';
import {
  access,
  anyJson,
  displayName,
  duration,
  instant,
  json,
  maxUsers,
  member,
  metadata,
  profile,
  revision,
  roomCode,
  roomInfo,
  roomRef,
  roomSnapshot,
  sessionNumber,
  userId,
  word,
} from './snapshot.ts';

const iceServers = z.array(
  z.object({
    /** `stun:`, `turn:` or `turns:` addresses of one server. */
    urls: z.array(z.string()),
    /** For a TURN server. */
    username: z.string().exactOptional(),
    /** The password of that user name; it expires. */
    credential: z.string().exactOptional(),
  }),
);
/** A STUN or TURN server, as `RTCConfiguration.iceServers` wants it. */
export type IceServer = z.infer<typeof iceServers>[number];

const nothing = z.strictObject({});

/** Errors that any request can be refused with. The table names only the others. */
export const COMMON_ERRORS = [
  'BAD_REQUEST',
  'RATE_LIMITED',
  'STORE_UNAVAILABLE',
  'SESSION_EXPIRED',
  'INTERNAL',
] as const satisfies readonly ErrorCode[];

interface RequestEntry {
  readonly about: string;
  readonly payload: z.ZodType;
  readonly reply: z.ZodType;
  readonly errors: readonly ErrorCode[];
}

export const REQUESTS = {
  'room:create': {
    about: 'Creates a room with a new code. The creator is its host and first member, and leaves its former room.',
    payload: z.strictObject({
      name: displayName.exactOptional(),
      type: word.exactOptional(),
      maxUsers: maxUsers.exactOptional(),
      access: access.exactOptional(),
      metadata: metadata.exactOptional(),
      profile: profile.exactOptional(),
      /**
       * Sent again within ten minutes by the same user, it is answered with the same room instead of a second one. The
       * record lies in the shard of the key's hash; when that shard had no free code, it lies with the room, and a repetition
       * that finds a free code there by then creates a second room.
       */
      idempotencyKey: z
        .string()
        .regex(/^[A-Za-z0-9_-]{1,64}$/)
        .exactOptional(),
    }),
    reply: z.object({ room: roomSnapshot, iceServers }),
    errors: ['POOL_EXHAUSTED', 'REFERENCE_UNAVAILABLE', 'CODE_EXPIRED', 'FORBIDDEN', 'PAYLOAD_TOO_LARGE'],
  },
  'room:join': {
    about: 'Joins the room of a code; with `ref`, exactly that room. Afterwards, the user leaves its former room.',
    payload: z.strictObject({ code: roomCode, ref: roomRef.exactOptional(), profile: profile.exactOptional() }),
    reply: z.object({ room: roomSnapshot, iceServers }),
    errors: ['ROOM_NOT_FOUND', 'CODE_EXPIRED', 'ROOM_FULL', 'ROOM_LOCKED', 'BANNED', 'FORBIDDEN', 'PAYLOAD_TOO_LARGE'],
  },
  'room:leave': {
    about: 'Leaves the room. Succeeds without a seat too.',
    payload: nothing,
    reply: nothing,
    errors: [],
  },
  'room:get': {
    about:
      'Returns the present room, for a client that has missed a revision. With the `rev` that the client has, the reply is ' +
      'without `room` when that is the present one.',
    payload: z.strictObject({ rev: revision.exactOptional() }),
    reply: z.object({ ref: roomRef, rev: revision, room: roomSnapshot.exactOptional() }),
    errors: ['NOT_IN_ROOM', 'CODE_EXPIRED'],
  },
  'room:update': {
    about: 'Changes the settings of the room. Host only.',
    payload: z.strictObject({
      name: displayName.exactOptional(),
      type: word.exactOptional(),
      maxUsers: maxUsers.exactOptional(),
      locked: z.boolean().exactOptional(),
      access: access.exactOptional(),
      metadata: metadata.exactOptional(),
    }),
    reply: z.object({ room: roomSnapshot }),
    errors: ['NOT_IN_ROOM', 'CODE_EXPIRED', 'FORBIDDEN', 'PAYLOAD_TOO_LARGE'],
  },
  'room:kick': {
    about: 'Removes a member; with `ban`, it cannot join this room again. Host only.',
    payload: z.strictObject({ userId, ban: z.boolean().exactOptional() }),
    reply: nothing,
    errors: ['NOT_IN_ROOM', 'CODE_EXPIRED', 'FORBIDDEN', 'PEER_NOT_FOUND', 'CONFLICT'],
  },
  'room:close': {
    about: 'Ends the room for everyone; its code cools down before it is used again. Host only.',
    payload: nothing,
    reply: nothing,
    errors: ['NOT_IN_ROOM', 'CODE_EXPIRED', 'FORBIDDEN'],
  },
  profile: {
    about: 'Changes the profile that the other members see.',
    payload: profile,
    reply: nothing,
    errors: ['NOT_IN_ROOM', 'CODE_EXPIRED', 'PAYLOAD_TOO_LARGE'],
  },
  signal: {
    about:
      'Relays an offer, an answer or a candidate to one member of the same room. `{}` means: written to that member’s ' +
      'connection, as the node that holds it has acknowledged. What is refused is not delivered later. Without an answer, ' +
      'because the connection was lost before it, the signal may have been delivered: send it again only if its receiver ' +
      'can tell a copy.',
    payload: z.strictObject({ to: userId, data: json(LIMITS.signalBytes) }),
    reply: nothing,
    errors: ['NOT_IN_ROOM', 'PEER_NOT_FOUND', 'PEER_AWAY', 'PAYLOAD_TOO_LARGE'],
  },
  message: {
    about:
      'Sends a message to all members of the room, the sender included. A message that is refused with ' +
      '`STORE_UNAVAILABLE` has reached nobody, unless the connection to the store broke in that instant: send it again.',
    payload: z.strictObject({ data: json(LIMITS.messageBytes) }),
    reply: nothing,
    errors: ['NOT_IN_ROOM', 'PAYLOAD_TOO_LARGE'],
  },
  heartbeat: {
    about: 'Renews the user and its seat. `rev` is the revision that the client has applied, if it is in a room.',
    payload: z.strictObject({ rev: revision.exactOptional() }),
    reply: z.object({ now: instant, rev: revision.nullable() }),
    errors: [],
  },
  ice: {
    about:
      'Returns the present STUN and TURN servers, and how long they are valid. TURN is for members: without a seat, the ' +
      'answer has STUN servers only.',
    payload: nothing,
    reply: z.object({ iceServers, ttlMs: duration }),
    errors: [],
  },
} as const satisfies Record<string, RequestEntry>;

const roomEventHead = z.object({ code: roomCode, ref: roomRef, rev: revision });

export const LEAVE_REASONS = ['left', 'lost', 'kicked'] as const;
export const CLOSE_REASONS = ['closed', 'host-left', 'empty', 'idle', 'aged'] as const;
/** Why a member has left: by its own request, because its connection did not come back, or by the host. */
export type LeaveReason = (typeof LEAVE_REASONS)[number];
/** Why a room has ended. */
export type CloseReason = (typeof CLOSE_REASONS)[number];

export const limits = z.object({
  frameBytes: z.int(),
  signalBytes: z.int(),
  messageBytes: z.int(),
  metadataBytes: z.int(),
  depth: z.int(),
  values: z.int(),
  nameLength: z.int(),
  maxUsers: z.int(),
  codeDigits: z.int(),
  eventsPerSecond: z.number(),
  eventsBurst: z.number(),
  roomBytesPerSecond: z.number(),
});
export type AdvertisedLimits = z.infer<typeof limits>;

interface PushEntry {
  readonly about: string;
  readonly body: z.ZodType;
}

export const PUSHES = {
  welcome: {
    about: 'Always the first push. `room` is the room whose seat was resumed, or null.',
    body: z.object({
      v: z.int(),
      userId,
      session: sessionNumber,
      /** Token for `auth.resume`: reconnects as the same user, with the same seat. A secret. */
      resume: z.string(),
      nodeId: z.string(),
      heartbeatIntervalMs: duration,
      limits,
      room: roomSnapshot.nullable(),
    }),
  },
  'member:joined': {
    about: 'A member has joined. It is pushed to the new member too.',
    body: roomEventHead.extend({ member }),
  },
  'member:left': {
    about: 'A member has left, and its seat is free.',
    body: roomEventHead.extend({ userId, reason: z.enum(LEAVE_REASONS) }),
  },
  'member:away': {
    about: 'A member’s connection is lost; its seat is kept for the grace.',
    body: roomEventHead.extend({ userId }),
  },
  'member:back': { about: 'A member has resumed its seat.', body: roomEventHead.extend({ member }) },
  'member:updated': { about: 'A member has changed its profile.', body: roomEventHead.extend({ member }) },
  'host:changed': {
    about: 'The room has another host, or none.',
    body: roomEventHead.extend({ hostId: userId.nullable() }),
  },
  'room:updated': {
    about: 'A setting of the room has changed.',
    body: roomEventHead.extend({ room: roomInfo }),
  },
  'room:closed': {
    about: 'The room has ended, and its code no longer leads to it.',
    body: roomEventHead.extend({ reason: z.enum(CLOSE_REASONS) }),
  },
  'room:rev': {
    about: 'The present revision of the room. A client with a lower one has missed an event and sends `room:get`.',
    body: roomEventHead,
  },
  'room:code-changed': {
    about:
      'The room has another code, because another room had taken its own: the store had lost its state, and the room was ' +
      'restored late. The ref and the members are the same. `code` is the new one, and `rev` the present revision.',
    body: roomEventHead.extend({ previousCode: roomCode }),
  },
  signal: {
    about: 'A signal from a member; `from` is set by the server.',
    body: z.object({ from: userId, data: anyJson, ref: roomRef }),
  },
  message: {
    about: 'A message from a member, or from the server with `from` null.',
    body: z.object({
      /** Set by the server; null for a message that a back end sends by the REST API. */
      from: userId.nullable(),
      data: anyJson,
      ref: roomRef,
    }),
  },
  'session:replaced': {
    about: 'The same user has connected elsewhere. Final: do not reconnect.',
    body: z.object({}),
  },
  'session:kicked': {
    about: 'The member was removed from the room. Final for this seat: do not join again automatically.',
    body: z.object({ code: roomCode, ref: roomRef, banned: z.boolean() }),
  },
  'server:drain': {
    about: 'This node is shutting down: reconnect after the given time.',
    body: z.object({ reconnectInMs: duration }),
  },
  ice: {
    about:
      'New TURN credentials, pushed to members before the old ones expire: use them for new connections. Running ' +
      'connections are not affected.',
    body: z.object({ iceServers, ttlMs: duration }),
  },
} as const satisfies Record<string, PushEntry>;

/** The handshake: `io(url, { auth })`. */
export const handshake = z.strictObject({
  v: z.int().default(1),
  token: z.string().max(8192).exactOptional(),
  resume: z.string().max(2048).exactOptional(),
  name: displayName.exactOptional(),
});
