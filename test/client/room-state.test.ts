/** Property tests: with events late, twice or lost, and snapshots old or new, a room only shows states that it has had. */
import fc from 'fast-check';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { SignalboxError } from '../../src/client/errors.ts';
import { JoinedRoom, type RoomOwner } from '../../src/client/joined-room.ts';
import { pageRuntime } from '../../src/client/runtime.ts';
import type { AnyPush } from '../../src/client/single-use-socket.ts';
import { errorBody } from '../../src/protocol/errors.ts';
import type { Reply } from '../../src/protocol/events.ts';
import type { Member, RoomSnapshot } from '../../src/protocol/snapshot.ts';
import { user } from '../room/fixtures.ts';
import { anyHistory, type History, OBSERVER } from './room-history.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
});
afterEach(() => {
  vi.useRealTimers();
});

/** The next thing that happens to the client; `share` chooses among what there is at that moment. */
interface Step {
  readonly kind: 'event' | 'hint' | 'answer' | 'refusal' | 'pause';
  readonly share: number;
}
const step = (kind: Step['kind'], weight: number) => ({
  weight,
  arbitrary: fc.record<Step>({ kind: fc.constant(kind), share: fc.double({ min: 0, max: 0.999, noNaN: true }) }),
});
const steps = fc.array(
  fc.oneof(step('event', 12), step('hint', 2), step('answer', 3), step('refusal', 1), step('pause', 2)),
  { maxLength: 120, size: 'max' },
);

/** A room of that history, as its observer has it; the test answers its reads. */
function joinWithHistory({ first, states, events, last }: History) {
  interface Read {
    /** The client's revision at the request: a store that has lost nothing does not answer with an older one. */
    readonly least: number;
    readonly resolve: (reply: Reply<'room:get'>) => void;
    readonly reject: (error: unknown) => void;
  }
  const reads: Read[] = [];
  const unexpected = () => expect.unreachable('its seat was never lost');
  const owner: RoomOwner = {
    sendInRoom: unexpected,
    leave: unexpected,
    rejoin: unexpected,
    kicked: unexpected,
    read: (least) => new Promise((resolve, reject) => void reads.push({ least, resolve, reject })),
  };
  const seat = new JoinedRoom(first, user(OBSERVER), [], owner, pageRuntime);
  /** Answers a read with a state of the room at or after the request. */
  const answer = async (rev: number) => {
    const read = reads.shift();
    const room = states.get(Math.max(rev, read?.least ?? 0));
    if (room === undefined) read?.reject(new SignalboxError(errorBody('CODE_EXPIRED')));
    else read?.resolve(replyTo(read.least, structuredClone(room)));
    await vi.advanceTimersByTimeAsync(0);
  };
  const deliver = (index: number) => {
    const event = events[index];
    if (event !== undefined) seat.receive(structuredClone(event) as AnyPush);
  };
  const at = (share: number) => Math.round(first.rev + share * (last - first.rev));
  const happen: Record<Step['kind'], (share: number) => Promise<void>> = {
    event: async (share) => deliver(Math.floor(share * events.length)),
    hint: async (share) => seat.catchUp(at(share)),
    answer: (share) => answer(at(share)),
    async refusal() {
      reads.shift()?.reject(new SignalboxError(errorBody('STORE_UNAVAILABLE')));
      await vi.advanceTimersByTimeAsync(0);
    },
    pause: async (share) => void (await vi.advanceTimersByTimeAsync(400 * share)),
  };
  return { seat, reads, answer, deliver, happen };
}

/** As the server answers: without the room to a client that has this revision. */
const replyTo = (asked: number, room: RoomSnapshot): Reply<'room:get'> =>
  room.rev === asked ? { ref: room.ref, rev: room.rev } : { ref: room.ref, rev: room.rev, room };

/** The members of a room by its events alone. */
function listener(seat: JoinedRoom) {
  const members = new Map<string, Member>(seat.members.map((member) => [member.userId, member]));
  seat.on('member:joined', ({ member }) => members.set(member.userId, member));
  seat.on('member:left', ({ member }) => members.delete(member.userId));
  for (const name of ['member:away', 'member:back', 'member:updated'] as const) {
    seat.on(name, ({ member }) => members.set(member.userId, member));
  }
  seat.on('host:changed', ({ hostId }) => {
    for (const member of members.values()) {
      members.set(member.userId, { ...member, role: member.userId === hostId ? 'host' : 'member' });
    }
  });
  return () => [...members.values()].sort((one, two) => one.seq - two.seq);
}

test('a room shows only states that it has had, in their order, and the present one in the end', async () => {
  await fc.assert(
    fc.asyncProperty(anyHistory, steps, async (history, course) => {
      const { seat, answer, happen, reads } = joinWithHistory(history);
      const { first, states, last } = history;
      const heard = listener(seat);
      let rev = first.rev;
      const look = () => {
        expect(seat.rev).toBeGreaterThanOrEqual(rev);
        rev = seat.rev;
        if (seat.rev === last && history.isClosed) return;
        expect(seat.snapshot).toEqual(states.get(seat.rev));
        expect(seat.members).toBe(seat.snapshot.members);
        expect(seat.self).toBe(seat.members.find(({ userId }) => userId === OBSERVER));
      };
      seat.on('member:left', look);
      seat.on('member:joined', look);
      seat.on('host:changed', look);
      seat.on('change', ({ room, before }) => {
        expect(before.rev).toBeLessThan(room.rev);
        look();
        expect(heard()).toEqual(seat.members);
      });

      for (const { kind, share } of course) {
        await happen[kind](share);
        look();
        if (seat.ending !== null) break;
      }

      // The pending reads are answered, and then the server tells its last revision.
      while (reads.length > 0) await answer(last);
      seat.catchUp(last);
      while (reads.length > 0) await answer(last);
      if (history.isClosed) expect(['closed', 'expired']).toContain(seat.ending?.reason);
      else expect([seat.snapshot, seat.ending]).toEqual([states.get(last), null]);
      look();
      expect(heard()).toEqual(seat.members);
      seat.end({ reason: 'left' });
      expect(vi.getTimerCount(), 'nothing is left to do').toBe(0);
    }),
    { numRuns: 500 },
  );
});

test('events out of order within a short time need no snapshot', async () => {
  await fc.assert(
    fc.asyncProperty(anyHistory, fc.array(fc.nat(), { minLength: 60, maxLength: 60 }), async (history, keys) => {
      const { seat, deliver, reads } = joinWithHistory(history);
      const { events, states, last } = history;
      // Each event may be overtaken by the five after it, and comes twice.
      const order = events.map((_, index) => ({ index, key: index + ((keys[index % 60] ?? 0) % 5) }));
      for (const { index } of order.sort((one, two) => one.key - two.key)) {
        deliver(index);
        deliver(index);
      }
      await vi.advanceTimersByTimeAsync(10_000);
      expect(reads).toHaveLength(0);
      if (!history.isClosed) expect(seat.snapshot).toEqual(states.get(last));
      else expect(seat.ending).toEqual({ reason: 'closed' });
    }),
    { numRuns: 200 },
  );
});

test('the next event shows that one is lost, and the snapshot is read once', async () => {
  await fc.assert(
    fc.asyncProperty(anyHistory, fc.nat(), async (history, at) => {
      const { seat, deliver, answer, reads } = joinWithHistory(history);
      const { events, states, last } = history;
      const lost = at % Math.max(1, events.length - 1);
      fc.pre(events.length > 1 && !history.isClosed);
      for (const index of events.keys()) if (index !== lost) deliver(index);
      expect(reads).toHaveLength(0);
      await vi.advanceTimersByTimeAsync(250);
      expect(reads).toHaveLength(1);
      await answer(last);
      expect(seat.snapshot).toEqual(states.get(last));
      await vi.advanceTimersByTimeAsync(10_000);
      expect(reads).toHaveLength(0);
    }),
    { numRuns: 100 },
  );
});

test('the state of a store that has lost its last writes is taken over, after a heartbeat and after a welcome', async () => {
  await fc.assert(
    fc.asyncProperty(anyHistory, async (history) => {
      const { first, states, last, isClosed } = history;
      fc.pre(!isClosed && last > first.rev + 1);
      const lost = structuredClone(states.get(first.rev));
      const told = structuredClone(states.get(last));
      if (lost === undefined || told === undefined) throw new Error('a history without its first or last state');
      const { seat, reads } = joinWithHistory(history);
      const heard = listener(seat);
      seat.adopt(told);
      seat.compare(lost.rev);
      const read = reads.shift();
      read?.resolve(replyTo(read.least, lost));
      await vi.advanceTimersByTimeAsync(0);
      expect([seat.snapshot, heard()]).toEqual([lost, lost.members]);
      seat.adopt(told);
      seat.restored(structuredClone(lost), user(OBSERVER));
      expect([seat.snapshot, heard()]).toEqual([lost, lost.members]);
    }),
    { numRuns: 50 },
  );
});

test('a room ends by a read, and by a close event after a gap', async () => {
  await fc.assert(
    fc.asyncProperty(anyHistory, async (history) => {
      fc.pre(history.isClosed && history.events.length > 1);
      const { seat, deliver, reads } = joinWithHistory(history);
      deliver(history.events.length - 1);
      await vi.advanceTimersByTimeAsync(250);
      expect([seat.ending, reads.length]).toEqual([{ reason: 'closed' }, 0]);
      const { seat: other, answer } = joinWithHistory(history);
      other.catchUp(Number.POSITIVE_INFINITY);
      await answer(history.last);
      expect(other.ending).toEqual({ reason: 'expired' });
    }),
    { numRuns: 50 },
  );
});

test('the random histories contain every event, and rooms of all sizes', () => {
  const met = new Set<string>();
  const sizes = new Set<number>();
  for (const { events, states } of fc.sample(anyHistory, { numRuns: 300, seed: 1 })) {
    for (const { name } of events) met.add(name);
    for (const { members } of states.values()) sizes.add(members.length);
  }
  const names =
    'host:changed member:away member:back member:joined member:left member:updated room:closed room:updated';
  expect([...met].sort().join(' ')).toBe(names);
  expect([...sizes]).toEqual(expect.arrayContaining([1, 2, 3, 4, 5, 6]));
});
