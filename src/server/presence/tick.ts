/**
 * The tick: one loop is this node's heartbeat and everybody's reaper. Every shard is visited once per `tickMs`, spread
 * evenly: the seats held here are renewed, because a connection that answers pings is life enough, and what is due is
 * reaped, whoever held it. No leader, no lock. TURN credentials that are about to end are renewed on the way.
 */
import type { Outcome, SeatKey, Tick } from '../../room/commands.ts';
import type { PoolStats } from '../../room/outcomes.ts';
import { SHARDS } from '../../room/pool.ts';
import type { Stop } from '../../support/clock.ts';
import type { ServerContext } from '../context.ts';
import type { Faults } from '../faults.ts';
import type { IceServers } from '../sessions/ice-servers.ts';
import type { SessionRegistry } from '../sessions/session-registry.ts';
import { FAREWELL_MS, type Seating } from './membership.ts';

/** Leases, rooms and codes reaped in one step: a few milliseconds of the store's time at most. */
const REAP_LIMIT = 100;
/** Records written side by side. */
const TOUCH_BATCH = 200;

export interface Heartbeat {
  /** The figures of each shard at its last visit; `undefined` before the first. */
  readonly stock: readonly (PoolStats | undefined)[];
  stop: Stop;
}

export function startHeartbeat(context: ServerContext, seating: Seating, faults: Faults, ice: IceServers): Heartbeat {
  const { engine, registry, clock, options } = context;
  const stock = Array.from({ length: SHARDS }, (): PoolStats | undefined => undefined);
  const busy = new Set<number>();

  const apply = (outcome: Outcome<Tick>): void => {
    // In this order, so that who hears of the end of a room has no seat in it any more, on whichever node.
    seating.evict(outcome.evicted);
    seating.fan(outcome.events);
    for (const key of outcome.lost) comeBack(context, seating, key);
    // One turn later: events that have just been told reach this node's clients before the revision they have led to.
    setImmediate(() => tellRevisions(registry, outcome.revs));
  };

  /** @throws what the engine throws. */
  const visit = async (shard: number): Promise<void> => {
    for (let more = true; more; ) {
      const outcome = await engine.apply({ kind: 'tick', shard, held: heldIn(context, shard), limit: REAP_LIMIT });
      stock[shard] = outcome.poolStats;
      apply(outcome);
      more = outcome.more;
    }
  };

  /** At most one visit of a shard is under way: a slow store is not asked the same again. */
  const visitOnce = async (shard: number): Promise<void> => {
    if (busy.has(shard)) return;
    busy.add(shard);
    try {
      await visit(shard);
    } catch (error) {
      faults(error, 'tick');
    } finally {
      busy.delete(shard);
    }
  };

  // At once, so that the figures of the pool are known from the beginning.
  for (let shard = 0; shard < SHARDS; shard += 1) void visitOnce(shard);
  let next = context.random.integer(SHARDS);
  const stopSteps = clock.every(options.tickMs / SHARDS, () => {
    // Whether the store answers or not: credentials do not need it.
    for (const { sessions } of registry.roomsOfShard(next))
      for (const session of sessions.values()) ice.refresh(session);
    void visitOnce(next);
    next = (next + 1) % SHARDS;
  });
  let touching = false;
  const stopTouching = clock.every(options.tickMs, () => {
    if (touching) return;
    touching = true;
    void touchQuietOnes(context, seating, faults).finally(() => {
      touching = false;
    });
  });
  return {
    stock,
    stop() {
      stopSteps();
      stopTouching();
    },
  };
}

function heldIn({ registry }: ServerContext, shard: number): SeatKey[] {
  return [...registry.roomsOfShard(shard)].flatMap(({ sessions }) =>
    [...sessions.values()].flatMap((s) => s.seatKey ?? []),
  );
}

/**
 * The seat is not this session's any more. Another node may be about to say why. If none does: either a later session of
 * the user has it, and this one is over; or the client comes back and is told where it stands.
 */
function comeBack(
  { registry, clock }: ServerContext,
  seating: Seating,
  { ref, userId, session: number }: SeatKey,
): void {
  const session = registry.member(ref, userId);
  if (session?.number !== number) return;
  const { seat } = session;
  clock.after(FAREWELL_MS, () => {
    if (session.seat !== seat || !session.connected) return;
    registry.clearSeat(session);
    seating.shut(session, ref);
    seating.touch(session).then(
      (now) => (now === undefined ? seating.replace(session) : session.drop()),
      () => session.drop(),
    );
  });
}

/** Pub/sub may lose the last event of a room, which no later one would reveal. */
function tellRevisions(registry: SessionRegistry, revs: Outcome<Tick>['revs']): void {
  for (const { code, ref, rev } of revs) {
    const room = registry.room(ref);
    if (room === undefined) continue;
    if (rev > room.rev) for (const session of room.sessions.values()) session.push('room:rev', { code, ref, rev });
    room.rev = rev;
  }
}

/** A background tab sends no heartbeats, yet its connection lives, and so does its user. */
async function touchQuietOnes(
  { registry, clock, options }: ServerContext,
  seating: Seating,
  faults: Faults,
): Promise<void> {
  const before = clock.now() - options.userTtlMs / 2;
  const quiet = [...registry.all()].filter(({ touchedAt }) => touchedAt < before);
  for (let done = 0; done < quiet.length; done += TOUCH_BATCH) {
    const batch = quiet.slice(done, done + TOUCH_BATCH).filter(({ connected }) => connected);
    const touched = await Promise.allSettled(batch.map((session) => seating.touch(session)));
    for (const [place, session] of batch.entries()) {
      const touch = touched[place];
      if (touch?.status === 'fulfilled' && touch.value === undefined) seating.replace(session);
      else if (touch?.status === 'rejected') faults(touch.reason, 'touch');
    }
  }
}
