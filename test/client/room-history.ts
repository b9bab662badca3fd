/** Arbitrary histories of a room: random commands applied by its rules, with the state at every revision. */
import fc from 'fast-check';
import type { RoomSnapshot } from '../../src/protocol/snapshot.ts';
import type { RoomEvent } from '../../src/room/outcomes.ts';
import { toSnapshot } from '../../src/room/room.ts';
import { SECOND } from '../room/fixtures.ts';
import {
  type AnyOutcome,
  close,
  create,
  createHarness,
  FIRST_CODE,
  type Harness,
  join,
  keyOf,
  kick,
  leave,
  resume,
  type Step,
  suspend,
  tick,
  updateRoom,
  updateSeat,
} from '../room/harness.ts';
import { replay } from '../room/replay.ts';

export interface History {
  /** When the observer joined. */
  readonly first: RoomSnapshot;
  readonly events: readonly RoomEvent[];
  /** By revision. A closed room has no state at its last revision. */
  readonly states: ReadonlyMap<number, RoomSnapshot>;
  readonly last: number;
  readonly isClosed: boolean;
}

/** The member whose client is tested: never away beyond the grace period, never kicked. */
export const OBSERVER = 'eve';

const other = fc.constantFrom('ann', 'bob', 'cat', 'dan', 'flo', 'gus');

/** A command that only the present host may give. */
const byHost =
  (act: (host: string, session: number) => Step): Step =>
  (stage) => {
    const room = stage.room();
    const host = room.seats.find(({ userId }) => userId === room.hostId);
    return host && act(host.userId, host.session)(stage);
  };

/** A command with the member's present session. */
const seated =
  (name: string, act: (session: number) => Step): Step =>
  (stage) => {
    const seat = stage.room().seats.find(({ userId }) => userId === name);
    return seat && act(seat.session)(stage);
  };

/** The grace period of away members ends; ticks keep the seats of all others. */
const lapse: Step = (stage) => {
  const present = stage.room().seats.filter(({ state }) => state === 'present');
  const held = present.map(({ userId, session }) => keyOf(userId, { session }));
  stage.turnTo(stage.now + 31 * SECOND);
  return tick(held)(stage);
};

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: other.map((name) => join(name, { profile: { name: name.toUpperCase() } })) },
  { weight: 3, arbitrary: other.map((name) => seated(name, (session) => leave(name, { session }))) },
  { weight: 4, arbitrary: other.map((name) => seated(name, (session) => suspend(name, { session }))) },
  // The observer too: away, then back.
  {
    weight: 4,
    arbitrary: fc
      .constantFrom(OBSERVER, 'ann', 'bob', 'cat')
      .map((name) => seated(name, (session) => resume(name, { session: session + 1 }))),
  },
  { weight: 2, arbitrary: fc.constant(lapse) },
  { weight: 2, arbitrary: other.map((name) => byHost((host, session) => kick(host, name, { session }))) },
  {
    weight: 3,
    arbitrary: fc
      .tuple(fc.constantFrom(OBSERVER, 'ann', 'bob'), fc.nat(3))
      .map(([name, hand]) =>
        seated(name, (session) => updateSeat(name, { metadata: JSON.stringify({ hand }) }, { session })),
      ),
  },
  {
    weight: 2,
    arbitrary: fc.boolean().map((locked) => byHost((host, session) => updateRoom(host, { locked }, { session }))),
  },
);

export const anyHistory: fc.Arbitrary<History> = fc
  .record({ steps: fc.array(step, { minLength: 5, maxLength: 40, size: 'max' }), isClosed: fc.boolean() })
  .map(({ steps, isClosed }) => {
    const stage = createHarness();
    create('ann', { settings: { maxUsers: 7 } })(stage);
    join(OBSERVER)(stage);
    const first = toSnapshot(stage.room());
    const end = byHost((host, session) => close(host, { session }));
    const events = [...steps, ...(isClosed ? [end] : [])].flatMap((step) => eventsOf(step(stage)));
    return { first, events, isClosed, ...statesOf(first, events, stage) };
  });

function statesOf(first: RoomSnapshot, events: readonly RoomEvent[], stage: Harness) {
  const states = new Map([[first.rev, first]]);
  let state: RoomSnapshot | null = first;
  for (const event of events) {
    state = replay(state, event);
    if (state !== null) states.set(state.rev, state);
  }
  const room = stage.shard.rooms.get(FIRST_CODE);
  if (room !== undefined && room.rev !== state?.rev) throw new Error('the history has a gap');
  return { states, last: events.at(-1)?.body.rev ?? first.rev };
}

const eventsOf = (outcome: AnyOutcome | undefined): readonly RoomEvent[] =>
  outcome?.ok === true && 'events' in outcome ? outcome.events : [];
