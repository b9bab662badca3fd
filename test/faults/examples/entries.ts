/** Small logs made by hand: each builder makes an entry that is usual but for what is given. */
import type { LawName } from '../checker/check.ts';
import type { ClientEntry, EntryOf, FaultSpan, FeedEntry, Run, Standing } from '../checker/run.ts';

export interface Example {
  readonly name: string;
  readonly run: Partial<Run>;
  /** None: all laws hold. */
  readonly breaks?: readonly LawName[];
}

export const NOTHING: Run = {
  clients: [],
  faults: [],
  samples: [],
  audits: [],
  exits: [],
  memory: [],
  feed: [],
  webhooks: [],
  calls: [],
  quiet: null,
  limits: { graceMs: 5_000, emptyWithinMs: 20_000, freeWithinMs: 10_000 },
};

type Draft<Kind extends ClientEntry['kind']> = Partial<EntryOf<Kind>> & { readonly at: number };

/** An entry of Ann, user `ann` on node-0, unless the draft says otherwise. */
export function entry<Kind extends ClientEntry['kind']>(kind: Kind, draft: Draft<Kind>): ClientEntry {
  const usual = {
    client: 'a-ann',
    connection: 1,
    userId: 'ann',
    nodeId: 'node-0',
    request: 1,
    call: 1,
    error: null,
    reason: null,
    room: null,
    signal: null,
    rev: 0,
  };
  return { kind, ...usual, ...draft } as unknown as ClientEntry; // with more fields than one kind has
}

export const room = (more: Partial<Standing> = {}): Standing => ({
  code: '123456',
  ref: 'R1',
  rev: 3,
  members: ['ann', 'ben'],
  ...more,
});

export const event = (rev: number, type: string, userId: string | null = null, ref = 'R1'): FeedEntry => ({
  id: `${ref}:${rev}`,
  type,
  ref,
  rev,
  userId,
  reason: type === 'user_left' ? 'left' : null,
});

export const CALL: readonly FeedEntry[] = [
  event(0, 'room_created', 'ann'),
  event(1, 'user_joined', 'ann'),
  event(2, 'user_left', 'ann'),
  event(3, 'room_destroyed'),
];

export const welcomes = [
  entry('welcomed', { at: 0 }),
  entry('welcomed', { at: 0, client: 'a-ben', userId: 'ben', connection: 2, nodeId: 'node-1', room: room() }),
];
export const signal = { n: 1, to: 'ben', ref: 'R1' };
export const sent = [
  ...welcomes,
  entry('called', { at: 10_000, name: 'signal', signal }),
  entry('settled', { at: 10_010, name: 'signal' }),
];
export const heard = (at: number, more: Partial<typeof signal> = {}, inRoom = 'R1') =>
  entry('heard', { at, client: 'a-ben', userId: 'ben', from: 'ann', signal: { ...signal, ...more }, inRoom });
export const end = entry('stepped', { at: 60_000, ref: 'R9', rev: 2, before: 1 });
export const fault = (name: string, target: string, from: number, until: number): FaultSpan => ({
  fault: name,
  target,
  from,
  until,
});
export const pushed = (at: number, name: string, rev: number, more: Draft<'pushed'> = { at }) =>
  entry('pushed', { ...more, at, name, ref: 'R1', rev });
export const seat = entry('answered', { at: 1_000, name: 'room:join', room: room() });
export const sample = { at: 9_000, probe: 2, rooms: [room()] };
export const stands = (more: Draft<'stands'>) => entry('stands', { probe: 2, state: 'online', ...more });
