/** Texts of `docs/protocol.md` that are not in the source: notes on fields, meanings of types, advice on errors. */
import type { ErrorCode } from '../src/protocol/errors.ts';

/** Errors that can refuse a handshake. */
export const HANDSHAKE_ERRORS: readonly ErrorCode[] = [
  'BAD_REQUEST',
  'UNAUTHENTICATED',
  'VERSION_UNSUPPORTED',
  'SESSION_EXPIRED',
  'RATE_LIMITED',
  'STORE_UNAVAILABLE',
  'DRAINING',
  'INTERNAL',
];

/** Errors of the HTTP API only. */
export const HTTP_ERRORS: readonly ErrorCode[] = ['NOT_FOUND', 'NOT_CONFIGURED'];

/** Notes on fields, by their place. */
export const NOTES: Readonly<Record<string, string>> = {
  'handshake.v': 'the version of this protocol',
  'handshake.token': 'identifies the user, if the server requires it',
  'handshake.resume': 'the last `welcome.resume`, to come back as the same user',
  'handshake.name': 'shown to the others, unless a profile has another one',
  'room:create payload.type': 'kind of the room, for programs',
  'room:create payload.idempotencyKey':
    'a repeated request within 10 min by the same user returns the same room (if the pool had run out meanwhile, possibly a second one)',
  'room:create reply.room': 'with the creator as host and first member',
  'room:join payload.ref': 'exactly that room, or `CODE_EXPIRED`',
  'room:update payload.maxUsers': 'a lower value removes no member',
  'room:update payload.locked': 'members may come back, no other user may join',
  'room:kick payload.ban': 'until the room ends',
  'signal payload.to': 'a member of the same room',
  'heartbeat payload.rev': 'the revision that has been applied',
  'heartbeat reply.now': 'the server’s time',
  'heartbeat reply.rev': 'the room’s revision; null if the user has no seat',
  'ice reply.ttlMs': 'request `ice` again before it has passed; a member is pushed `ice` before that',
  'welcome body.resume': 'a secret; store the latest one',
  'welcome body.heartbeatIntervalMs': 'send `heartbeat` this often',
  'welcome body.room': 'the room in which the seat was resumed',
  'member:joined body.member': 'add it to your copy',
  'member:left body.userId': 'remove it',
  'member:away body.userId': 'its state is `away`',
  'member:back body.member': 'replace it; it may be another process',
  'member:updated body.member': 'replace it',
  'host:changed body.hostId': 'its role is `host`, everybody else’s is `member`',
  'room:updated body.room': 'replaces all fields except the members',
  'signal body.from': 'set by the server',
  'message body.from': 'set by the server; null: sent by the server, for a back end',
  'server:drain body.reconnectInMs': 'reconnect after this, to another node',
  'ice body.ttlMs': 'new ones are pushed before it has passed',
  'RoomSnapshot.members': 'in the order of their `seq`',
  'RoomInfo.rev': 'raised by one with every event of the room',
  'RoomInfo.locked': 'no new user may join',
  'RoomInfo.expiresAt': 'latest end of the room',
  'Member.state': '`away`: its connection is lost, its seat is kept',
  'Member.seq': 'order of joining, never given twice in a room',
  'Limits.frameBytes': 'a larger frame ends the connection',
  'Limits.depth': 'nesting of `data` and `metadata`',
  'Limits.values': 'JSON values in a payload',
  'Limits.nameLength': 'characters of a name',
  'Limits.maxUsers': 'maximum for `maxUsers` of a room',
  'Limits.codeDigits': 'digits of every code of this server',
  'Limits.eventsPerSecond': 'tokens per second of a connection; an ordinary request costs one',
  'Limits.eventsBurst': 'tokens of a connection at once',
  'Limits.roomBytesPerSecond': 'bytes that a room may have sent, over all its members',
};

const words: Readonly<Record<string, string>> = {
  RoomCode: 'the code that people type. A lease: after its room has ended and it has cooled, another room can get it',
  RoomRef: 'the permanent identity of a room, never used again',
  UserId: 'a user, the same over all its connections',
  SessionNumber: 'one connection of a user; greater means later',
  Name: 'text for people: at most 64 characters, no control characters',
  Word: 'a word for programs',
  Instant: 'milliseconds since 1970, by the server’s clock',
  Duration: 'milliseconds',
  Revision: 'the number of changes of a room',
};

const errors: Readonly<Record<ErrorCode, string>> = {
  BAD_REQUEST: 'Fix the client: `message` names the field.',
  UNAUTHENTICATED: 'Get a new token and connect with it.',
  FORBIDDEN: 'In your room: wait until `host:changed` names you. Otherwise `message` has the reason.',
  VERSION_UNSUPPORTED: 'Update the client.',
  ROOM_NOT_FOUND: 'Ask the person for the code again: it was mistyped, or the room has ended.',
  CODE_EXPIRED: 'Discard the room. Its code may belong to another one.',
  ROOM_FULL: 'Retry when a member has left.',
  ROOM_LOCKED: 'Ask the host to unlock it.',
  PIN_REQUIRED: 'Ask for the PIN.',
  PIN_INVALID: 'Ask for the PIN again.',
  LOBBY_WAITING: 'Wait for the host’s decision.',
  BANNED: 'Do not retry with this room.',
  NOT_IN_ROOM: 'Join a room first; the seat may have been lost meanwhile.',
  PEER_NOT_FOUND: 'Close the connection with that member.',
  PEER_AWAY: 'Do not queue: start again after `member:back`.',
  PAYLOAD_TOO_LARGE: 'Send less; see `welcome.limits`.',
  RATE_LIMITED: 'Wait for `retryAfterMs`. A client that continues is disconnected.',
  QUOTA_EXCEEDED: 'Wait for `retryAfterMs`, or close other connections.',
  CONFLICT: 'Do not repeat it: a host cannot kick itself.',
  POOL_EXHAUSTED: 'Wait for `retryAfterMs`: then the next code has cooled.',
  STORE_UNAVAILABLE:
    'Wait for `retryAfterMs`. The change may have happened: read the room, or repeat with the same key.',
  REFERENCE_UNAVAILABLE: 'Wait for `retryAfterMs`.',
  DRAINING: 'Reconnect; another node answers.',
  SESSION_EXPIRED: 'In the handshake: connect without `resume`. Later: another connection has replaced this one, stop.',
  NOT_FOUND: 'Fix the path.',
  NOT_CONFIGURED: 'Ask the operator: the server has no ledger, or keeps no such records.',
  INTERNAL: 'Report it; `message` may hold the id of a log line.',
};

export const ADVICE = { words, errors };
