/** Examples of the document. A test runs each of them, with the code of a real room in place of this one. */

const CREATED_AT = 1_767_225_600_000;

const emptyRoom = {
  code: '482913',
  ref: 'ROM202600000042',
  rev: 0,
  name: 'Consultation',
  type: 'call',
  maxUsers: 2,
  access: 'open' as const,
  locked: false,
  hostId: null,
  createdAt: CREATED_AT,
  expiresAt: CREATED_AT + 24 * 3_600_000,
  metadata: { appointment: 4711 },
  members: [],
};

const USER_ID = 'V1StGXR8_Z5jdHi6B-myTQ';

const ada = {
  userId: USER_ID,
  name: 'Ada',
  role: 'host' as const,
  state: 'present' as const,
  seq: 1,
  joinedAt: CREATED_AT + 60_000,
  mediaType: 'video',
};

const room = {
  ...emptyRoom,
  rev: 2,
  locked: true,
  hostId: USER_ID,
  members: [ada],
};

const { members: _members, ...info } = room;

const callInfo = {
  ref: room.ref,
  code: room.code,
  type: room.type,
  name: room.name,
  createdAt: CREATED_AT,
  endedAt: CREATED_AT + 1_800_000,
  reason: 'closed',
  hostId: USER_ID,
  createdBy: null,
  peakMembers: 2,
  totalMembers: 2,
  signals: 24,
  complete: true,
};

const participants = [
  {
    userId: USER_ID,
    name: 'Ada',
    seq: 1,
    joinedAt: CREATED_AT + 60_000,
    leftAt: CREATED_AT + 1_800_000,
    reason: 'closed',
    mediaType: 'video',
  },
];

const call = { ...callInfo, sessions: participants };
const callRecord = { ...callInfo, participants };

/** End of the delivery attempts for the event below: one day of failures. */
const GIVEN_UP_AT = CREATED_AT + 60_500 + 86_895_000;
const REASON = 'answered 500';

const endpoint = {
  id: 'da12510b862e',
  origin: 'https://example.org',
  pending: 0,
  dead: 1,
  dropped: 0,
  lost: 0,
  lastError: { reason: REASON, at: GIVEN_UP_AT },
  lastDeliveredAt: GIVEN_UP_AT + 120_000,
};

const deadLetter = {
  event: {
    type: 'user_back' as const,
    id: `${room.ref}:3`,
    serverId: 'node-1',
    timestamp: CREATED_AT + 60_500,
    code: room.code,
    ref: room.ref,
    rev: 3,
    userId: USER_ID,
    member: ada,
  },
  attempts: 36,
  reason: REASON,
  at: GIVEN_UP_AT,
};

export const EXAMPLES = {
  emptyRoom,
  room,
  listedRoom: { ...info, memberCount: 1 },
  userId: USER_ID,
  call,
  callRecord,
  endpoint,
  deadLetter,
};
