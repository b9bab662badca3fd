/** Examples of laws about rooms, members and revisions. */
import {
  CALL,
  type Example,
  end,
  entry,
  event,
  fault,
  pushed,
  room,
  sample,
  seat,
  stands,
  welcomes,
} from './entries.ts';

export const ROOM_EXAMPLES: readonly Example[] = [
  { name: 'an empty run', run: {} },

  {
    name: 'a client that shows what Redis has',
    run: { samples: [sample], clients: [stands({ at: 1, room: room() })] },
  },
  {
    name: 'two clients with two rooms under one code',
    run: {
      samples: [{ at: 9_000, probe: 1, rooms: [room()] }],
      clients: [
        stands({ at: 1, probe: 1, room: room() }),
        stands({ at: 1, probe: 1, client: 'a-eve', userId: 'eve', room: room({ ref: 'R2' }) }),
      ],
    },
    breaks: ['no code leads to two live rooms', 'member lists equal the truth'],
  },
  {
    name: 'a member that the client does not show',
    run: { samples: [sample], clients: [stands({ at: 1, room: room({ members: ['ann'] }) })] },
    breaks: ['member lists equal the truth'],
  },
  {
    name: 'the same members at another revision',
    run: { samples: [sample], clients: [stands({ at: 1, room: room({ rev: 2 }) })] },
    breaks: ['member lists equal the truth'],
  },
  {
    name: 'what was different in an earlier probe',
    run: {
      samples: [{ ...sample, probe: 1 }, sample],
      clients: [stands({ at: 1, probe: 1, room: room({ rev: 2 }) }), stands({ at: 2, room: room() })],
    },
  },
  {
    name: 'a client that is not online when nothing fails any more',
    run: { samples: [sample], clients: [stands({ at: 1, state: 'reconnecting' })] },
    breaks: ['member lists equal the truth'],
  },

  {
    name: 'a client with a seat in a room that it does not show',
    run: { samples: [sample], clients: [stands({ at: 1, room: null })] },
    breaks: ['no client has a seat that it does not show'],
  },
  {
    name: 'a seat of a client whose process was killed',
    run: { samples: [sample], clients: [stands({ at: 1, client: 'a-eve', userId: 'eve', room: null })] },
  },

  {
    name: 'one ref for two creates',
    run: {
      clients: ['a-ann', 'a-ben'].map((client) => entry('settled', { at: 1, client, name: 'create', room: room() })),
    },
    breaks: ['no ref is issued twice'],
  },
  {
    name: 'codes that are lost',
    run: { audits: [{ at: 1, free: 7, occupied: 1, cooling: 1, total: 10, disagreements: [] }] },
    breaks: ['the pool is conserved'],
  },
  {
    name: 'keys that contradict each other',
    run: { audits: [{ at: 1, free: 8, occupied: 1, cooling: 1, total: 10, disagreements: ['leases and seats'] }] },
    breaks: ['the pool is conserved'],
  },

  {
    name: 'a member that is reaped while it is connected',
    run: {
      clients: [
        welcomes[0] ?? end,
        seat,
        entry('answered', { at: 29_500, name: 'heartbeat' }),
        pushed(30_000, 'member:left', 4, { at: 0, client: 'a-ben', connection: 2, userId: 'ann', reason: 'lost' }),
        entry('answered', { at: 32_000, name: 'heartbeat' }),
      ],
    },
    breaks: ['nobody who is there is told to have left'],
  },
  {
    name: 'a member that is reaped after its connection was closed',
    run: {
      clients: [
        welcomes[0] ?? end,
        seat,
        entry('closed', { at: 20_000 }),
        pushed(30_000, 'member:left', 4, { at: 0, client: 'a-ben', connection: 2, userId: 'ann', reason: 'lost' }),
      ],
    },
  },

  {
    name: 'two ends of one membership in the feed',
    run: {
      feed: [...CALL.slice(0, 3), event(3, 'user_left', 'ann')],
      webhooks: ['R1:0', 'R1:1', 'R1:2', 'R1:3'],
    },
    breaks: ['a membership ends once'],
  },
  {
    name: 'a member whose joining was forgotten by the store',
    run: {
      feed: [...CALL.slice(0, 2), event(1_000_002, 'user_left', 'ben')],
      webhooks: ['R1:0', 'R1:1', 'R1:1000002'],
      faults: [fault('restart-with-old-dump', 'redis', 1_000, 2_000)],
    },
  },
  {
    name: 'two ends of a membership whose joining was forgotten by the store',
    run: {
      feed: [...CALL.slice(0, 2), event(1_000_002, 'user_left', 'ben'), event(1_000_003, 'user_left', 'ben')],
      webhooks: ['R1:0', 'R1:1', 'R1:1000002', 'R1:1000003'],
      faults: [fault('restart-with-old-dump', 'redis', 1_000, 2_000)],
    },
    breaks: ['a membership ends once'],
  },
  {
    name: 'two ends of one membership told to a client',
    run: {
      clients: [4, 5].map((rev) => pushed(rev, 'member:left', rev, { at: 0, userId: 'ben', reason: 'left' })),
    },
    breaks: ['a membership ends once'],
  },

  { name: 'revisions without a gap', run: { clients: [seat, pushed(2_000, 'room:updated', 4), end] } },
  {
    name: 'events that overtake each other',
    run: { clients: [seat, pushed(2_000, 'room:updated', 5), pushed(2_001, 'room:updated', 4), end] },
  },
  {
    name: 'a gap, and a snapshot after it',
    run: {
      clients: [
        seat,
        pushed(2_000, 'room:updated', 6),
        entry('answered', { at: 2_500, name: 'room:get', rev: 6, room: room({ rev: 6 }) }),
        end,
      ],
    },
  },
  {
    name: 'an event that came before the older snapshot that fills the gap',
    run: {
      clients: [
        seat,
        pushed(2_000, 'room:updated', 6),
        pushed(2_100, 'room:updated', 7),
        entry('answered', { at: 2_500, name: 'room:get', rev: 6, room: room({ rev: 6 }) }),
        pushed(3_000, 'room:updated', 8),
        end,
      ],
    },
  },
  {
    name: 'a gap after the snapshot, which stays',
    run: {
      clients: [
        seat,
        pushed(2_000, 'room:updated', 8),
        entry('answered', { at: 2_500, name: 'room:get', rev: 6, room: room({ rev: 6 }) }),
        end,
      ],
    },
    breaks: ['a gap of revisions is followed by a snapshot, and none runs backwards'],
  },
  {
    name: 'a gap that stays',
    run: { clients: [seat, pushed(2_000, 'room:updated', 6), end] },
    breaks: ['a gap of revisions is followed by a snapshot, and none runs backwards'],
  },
  {
    name: 'a revision that runs backwards',
    run: { clients: [entry('stepped', { at: 1, ref: 'R1', rev: 3, before: 7 })] },
    breaks: ['a gap of revisions is followed by a snapshot, and none runs backwards'],
  },
];
