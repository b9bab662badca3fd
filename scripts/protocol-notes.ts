/** What `docs/protocol.md` says beside what the source says by itself. */
import type { ErrorCode } from '../src/protocol/errors.ts';

/** What a connection may be refused with, before it is one. */
export const HANDSHAKE_ERRORS: readonly ErrorCode[] = [
  'BAD_REQUEST',
  'UNAUTHENTICATED',
  'VERSION_UNSUPPORTED',
  'SESSION_EXPIRED',
  'STORE_UNAVAILABLE',
  'DRAINING',
  'INTERNAL',
];

/** What the HTTP API alone says. */
export const HTTP_ERRORS: readonly ErrorCode[] = ['NOT_FOUND', 'NOT_CONFIGURED'];

/** Of a field, by where it is. */
export const NOTES: Readonly<Record<string, string>> = {
  'handshake.v': 'the version of this protocol',
  'handshake.token': 'who the user is, where the server asks for it',
  'handshake.resume': 'the last `welcome.resume`, to come back as the same user',
  'handshake.name': 'what others see, unless a profile says otherwise',
  'room:create payload.type': 'what kind of room it is, for programs',
  'room:create payload.idempotencyKey':
    'sent again within 10 min by the same user, it gives the same room (while a code is left; of a pool that has just run out, it may give a second one)',
  'room:create reply.room': 'with the creator as host and first member',
  'room:join payload.ref': 'that very room or none: `CODE_EXPIRED`',
  'room:update payload.maxUsers': 'nobody is thrown out when it is lowered',
  'room:update payload.locked': 'members may come back, nobody else gets in',
  'room:kick payload.ban': 'for as long as the room lives',
  'signal payload.to': 'a member of the same room',
  'heartbeat payload.rev': 'the revision that has been applied',
  'heartbeat reply.now': 'the server’s time',
  'heartbeat reply.rev': 'the room’s revision, null when the user has no seat',
  'ice reply.ttlMs': 'ask again before it is over; a member hears `ice` before that',
  'welcome body.resume': 'a secret; keep the latest',
  'welcome body.heartbeatIntervalMs': 'send `heartbeat` this often',
  'welcome body.room': 'the room in which the seat was resumed',
  'member:joined body.member': 'add it',
  'member:left body.userId': 'remove it',
  'member:away body.userId': 'its state is `away`',
  'member:back body.member': 'replace it; it may be another process than before',
  'member:updated body.member': 'replace it',
  'host:changed body.hostId': 'its role is `host`, everybody else’s is `member`',
  'room:updated body.room': 'replaces everything but the members',
  'signal body.from': 'stamped by the server',
  'message body.from': 'stamped by the server; null: the server itself says it, for a back end',
  'server:drain body.reconnectInMs': 'after this, somewhere else',
  'ice body.ttlMs': 'the next ones come before it is over',
  'RoomSnapshot.members': 'in the order of their `seq`',
  'RoomInfo.rev': 'one more with every event of the room',
  'RoomInfo.locked': 'nobody new gets in',
  'RoomInfo.expiresAt': 'the room ends then at the latest',
  'Member.state': '`away`: its connection is lost, its seat is kept',
  'Member.seq': 'order of joining, never given twice in a room',
  'Limits.frameBytes': 'a larger frame ends the connection',
  'Limits.depth': 'nesting of `data` and `metadata`',
  'Limits.nameLength': 'characters of a name',
  'Limits.maxUsers': 'the most that a room may ask for',
  'Limits.codeDigits': 'digits of every code of this server',
  'Limits.eventsPerSecond': 'requests that a connection may go on making',
  'Limits.eventsBurst': 'requests that it may make at once',
};

const words: Readonly<Record<string, string>> = {
  RoomCode: 'what people type. A lease: when its room has ended, it is given to another one after a while',
  RoomRef: 'the room itself, never given twice',
  UserId: 'a user: the same over all its connections',
  SessionNumber: 'one connection of a user; greater means later',
  Name: `what people read: at most 64 characters, no control characters`,
  Word: 'a word for programs',
  Instant: 'milliseconds since 1970, by the server’s clock',
  Duration: 'milliseconds',
  Revision: 'how many changes a room has seen',
};

const errors: Readonly<Record<ErrorCode, string>> = {
  BAD_REQUEST: 'Mend the client: `message` names the field.',
  UNAUTHENTICATED: 'Get a new token and connect with it.',
  FORBIDDEN: 'Of a room one is in: wait until `host:changed` names you. Else the message says why.',
  VERSION_UNSUPPORTED: 'Update the client.',
  ROOM_NOT_FOUND: 'Ask for the code again: it was mistyped, or the room has ended.',
  CODE_EXPIRED: 'Forget the room. A code alone may lead into another one.',
  ROOM_FULL: 'Try again when somebody has left.',
  ROOM_LOCKED: 'Ask the host to unlock it.',
  PIN_REQUIRED: 'Ask for the PIN.',
  PIN_INVALID: 'Ask for the PIN again.',
  LOBBY_WAITING: 'Wait for the host’s decision.',
  BANNED: 'Do not come back to this room.',
  NOT_IN_ROOM: 'Join a room first; the seat may have been lost meanwhile.',
  PEER_NOT_FOUND: 'Drop the connection with that member.',
  PEER_AWAY: 'Do not queue: begin anew when `member:back` tells of it.',
  PAYLOAD_TOO_LARGE: 'Send less; see `welcome.limits`.',
  RATE_LIMITED: 'Wait for `retryAfterMs`. Who goes on is disconnected.',
  QUOTA_EXCEEDED: 'Wait for `retryAfterMs`, or close other connections.',
  CONFLICT: 'Do not repeat it: a host cannot kick itself.',
  POOL_EXHAUSTED: 'Wait for `retryAfterMs`: then the next code has cooled.',
  STORE_UNAVAILABLE: 'Wait for `retryAfterMs`. It may have happened: read the room, or repeat with the same key.',
  REFERENCE_UNAVAILABLE: 'Wait for `retryAfterMs`.',
  DRAINING: 'Connect again; another node answers.',
  SESSION_EXPIRED: 'In the handshake: connect without `resume`. Later: another connection has taken over, stop.',
  NOT_FOUND: 'Mend the path.',
  NOT_CONFIGURED: 'Ask who runs the server: it has no ledger, or keeps no such records.',
  INTERNAL: 'Report it; `message` may hold the id of a log line.',
};

export const ADVICE = { words, errors };
