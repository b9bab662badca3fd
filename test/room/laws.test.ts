/** Laws that hold after every command: random commands of a few users in a shard of three codes. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { RoomSnapshot } from '../../src/protocol/snapshot.ts';
import type { RoomEvent } from '../../src/room/outcomes.ts';
import { codeAt, createPool } from '../../src/room/pool.ts';
import { toSnapshot } from '../../src/room/room.ts';
import { MINUTE, SECOND, SHARD } from './fixtures.ts';
import {
  type AnyOutcome,
  at,
  close,
  create,
  createHarness,
  type Harness,
  join,
  keyOf,
  kick,
  leave,
  read,
  renew,
  resume,
  type Step,
  suspend,
  tick,
  updateRoom,
  updateSeat,
} from './harness.ts';
import { replay } from './replay.ts';

const pool = createPool(6, 300);
const codes = [0, 1, 2].map((index) => codeAt(pool, SHARD, index));

const name = fc.constantFrom('ann', 'bob', 'cat', 'dan');
// Mostly the room that was opened last in a code, sometimes one before it or none.
const where = fc.record({
  place: fc.constantFrom(0, 0, 0, 0, 1, 2),
  former: fc.constantFrom(0, 0, 0, 0, 0, 0, 0, 0, 1),
  session: fc.constantFrom(1, 1, 1, 1, 1, 1, 2),
});
type Where = typeof where extends fc.Arbitrary<infer Value> ? Value : never;

/** A step is drawn before the room that it meets is known. */
const resolvePlace = ({ place, former, session }: Where, harness: Harness) => {
  const code = codes[place] ?? codeAt(pool, SHARD, 0);
  const number = Number(harness.shard.rooms.get(code)?.ref.slice('ROM2026'.length) ?? 1);
  return { code, session, ref: number - former };
};

/** How many refs a harness has given out. */
const issued = new WeakMap<Harness, number>();

const createStep =
  (by: string, searchFrom: number, idempotencyKey: string | undefined): Step =>
  (harness) => {
    const ref = (issued.get(harness) ?? 0) + 1;
    issued.set(harness, ref);
    const settings = { maxUsers: 2 + (ref % 2) };
    return create(by, { ref, searchFrom, settings, ...(idempotencyKey !== undefined && { idempotencyKey }) })(harness);
  };

const memberStep = (act: (by: string, where: ReturnType<typeof resolvePlace>) => Step) =>
  fc.tuple(name, where).map(
    ([by, place]): Step =>
      (harness) =>
        act(by, resolvePlace(place, harness))(harness),
  );

/** By the host as it is then: of random names and sessions hardly any may kick. */
const kickStep = fc.tuple(name, fc.boolean(), where).map(
  ([target, ban, place]): Step =>
    (harness) => {
      const at = resolvePlace(place, harness);
      const room = harness.shard.rooms.get(at.code);
      const host = room?.seats.find(({ userId }) => userId === room.hostId);
      return kick(host?.userId ?? 'ann', target, { ...at, session: host?.session ?? 1, ban })(harness);
    },
);

const sequence = fc.array(
  fc.oneof(
    {
      weight: 3,
      arbitrary: fc
        .tuple(name, fc.nat(2), fc.constantFrom(undefined, undefined, 'k'))
        .map((args) => createStep(...args)),
    },
    { weight: 6, arbitrary: memberStep(join) },
    { weight: 2, arbitrary: memberStep(leave) },
    { weight: 3, arbitrary: memberStep(suspend) },
    { weight: 3, arbitrary: memberStep(resume) },
    { weight: 1, arbitrary: memberStep(renew) },
    { weight: 1, arbitrary: memberStep(close) },
    { weight: 1, arbitrary: memberStep((_, at) => read(at)) },
    { weight: 1, arbitrary: memberStep((by, at) => updateSeat(by, { metadata: '{"a":[1]}' }, at)) },
    { weight: 1, arbitrary: memberStep((by, at) => updateRoom(by, { locked: at.session === 1, maxUsers: 3 }, at)) },
    { weight: 3, arbitrary: kickStep },
    { weight: 3, arbitrary: memberStep((by, at) => tick([keyOf(by, at)], 1)) },
    { weight: 1, arbitrary: fc.constant(tick()) },
    {
      weight: 3,
      arbitrary: fc.constantFrom(0, SECOND, SECOND, 31 * SECOND, 31 * SECOND, 12 * MINUTE).map(
        (ms): Step =>
          (harness) =>
            at(harness.now + ms)(harness),
      ),
    },
  ),
  { minLength: 30, maxLength: 120, size: 'max' },
);

type Look = (before: ReadonlyMap<string, RoomSnapshot>, outcome: AnyOutcome, harness: Harness) => void;

/** Runs random sequences and checks every step: the state before, the outcome, the state after. */
function always(look: Look, parameters: { seed?: number } = {}) {
  fc.assert(
    fc.property(sequence, fc.boolean(), (steps, closeOnHostLeave) => {
      const harness = createHarness({ closeOnHostLeave, maxAgeMs: 20 * MINUTE }, pool);
      for (const step of steps) {
        const before = snapshots(harness);
        const outcome = step(harness);
        if (outcome !== undefined) look(before, outcome, harness);
      }
    }),
    { numRuns: 200, ...parameters },
  );
}

const snapshots = (harness: Harness) =>
  new Map([...harness.shard.rooms].map(([code, room]) => [code, toSnapshot(room)]));

const eventsOf = (outcome: AnyOutcome): readonly RoomEvent[] =>
  outcome.ok && 'events' in outcome ? outcome.events : [];

test('conservation of codes: every code is free, occupied or cooling, and no other code exists', () => {
  always((_before, _outcome, { shard, pool: { perShard } }) => {
    const free = codes.filter((code) => !shard.rooms.has(code) && !shard.cooling.has(code));
    expect(free.length + shard.rooms.size + shard.cooling.size).toBe(perShard);
    expect(codes).toEqual(expect.arrayContaining([...shard.rooms.keys(), ...shard.cooling.keys()]));
  });
});

test('unique codes and refs: each belongs to one room, and a running room keeps both', () => {
  always((before, _outcome, { shard }) => {
    for (const [code, room] of shard.rooms) {
      expect(room.code).toBe(code);
      const former = before.get(code);
      if (former !== undefined) expect(room.ref).toBe(former.ref);
    }
    expect(new Set([...shard.rooms.values()].map(({ ref }) => ref)).size).toBe(shard.rooms.size);
  });
});

test('replay: the snapshot before plus the events, in the order of their revisions, is the snapshot after', () => {
  always((before, outcome, harness) => {
    const replayed = new Map<string, RoomSnapshot | null>(before);
    for (const event of eventsOf(outcome)) {
      const { code } = event.body;
      replayed.set(code, replay(replayed.get(code) ?? null, event));
    }
    const after = snapshots(harness);
    for (const code of codes) {
      // A new room has no earlier snapshot to start from.
      if (before.has(code)) expect(replayed.get(code) ?? undefined).toEqual(after.get(code));
      else if (after.has(code)) expect([after.get(code)?.rev, eventsOf(outcome)]).toEqual([1, []]);
    }
  });
});

test('a refused command changes nothing, and one that changes something says so', () => {
  always((before, outcome, harness) => {
    if (eventsOf(outcome).length > 0 || isOpening(outcome)) return;
    expect(snapshots(harness)).toEqual(before);
  });
});

test('an outcome carries the room as it is afterwards, and the revision of its last event', () => {
  always((_before, outcome, harness) => {
    if (!outcome.ok) return;
    if ('room' in outcome) expect(outcome.room).toEqual(snapshots(harness).get(outcome.room.code));
    if ('rev' in outcome && 'evicted' in outcome && outcome.events.length > 0) {
      expect(outcome.rev).toBe(outcome.events.at(-1)?.body.rev);
    }
  });
});

test('a room has a host exactly when it has a member, no seat twice, and no more present than fit', () => {
  always((_before, _outcome, { shard }) => {
    for (const { hostId, seats, nextSeq, emptySince } of shard.rooms.values()) {
      const users = seats.map(({ userId }) => userId);
      expect(hostId === null ? users : users.includes(hostId)).toEqual(hostId === null ? [] : true);
      expect(new Set(users).size).toBe(users.length);
      expect(users.length).toBeLessThanOrEqual(3);
      expect(emptySince === null).toBe(users.length > 0);
      const order = seats.map(({ seq }) => seq);
      expect(order).toEqual([...new Set(order)].sort((a, b) => a - b));
      expect(nextSeq).toBeGreaterThan(order.at(-1) ?? 0);
    }
  });
});

test('the random commands meet every kind of outcome: a law that is never exercised proves nothing', () => {
  const met = new Map<string, number>();
  always(
    (_before, outcome) => {
      const kinds = outcome.ok ? eventsOf(outcome).map((event) => event.name) : [outcome.reason];
      for (const kind of kinds) met.set(kind, (met.get(kind) ?? 0) + 1);
    },
    { seed: 1 },
  );
  const pushes =
    'member:joined member:left member:away member:back member:updated host:changed room:updated room:closed';
  const refusals =
    'FULL REPLAYED CODE_EXPIRED ROOM_FULL ROOM_LOCKED BANNED SESSION_EXPIRED NOT_IN_ROOM FORBIDDEN PEER_NOT_FOUND CONFLICT';
  expect([...met.keys()].sort()).toEqual(`${pushes} ${refusals}`.split(' ').sort());
});

const isOpening = (outcome: AnyOutcome) => outcome.ok && 'room' in outcome && outcome.room.rev === 1;
