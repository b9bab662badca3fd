/**
 * The tick: one loop renews what this node holds and reaps what is due, whichever node held it. Every shard is visited
 * once per `tickMs`, spread evenly: seats held here are renewed, because a connection that answers pings is alive, and
 * expired leases, rooms and codes are reaped. No leader, no lock. A visit also finds that the store has lost its state, see
 * recovery.ts. TURN credentials about to expire are renewed on the way.
 */
import type { Outcome, SeatKey, Tick } from '../../room/commands.ts';
import type { PoolStats } from '../../room/outcomes.ts';
import { SHARDS } from '../../room/pool.ts';
import type { Stop } from '../../support/clock.ts';
import { startTogether } from '../../support/start-together.ts';
import type { ServerContext } from '../context.ts';
import type { IceServers } from '../sessions/ice-servers.ts';
import { announce } from './announce.ts';
import { dropSession } from './drop-session.ts';
import { ROOM_END_LINGER_MS } from './local-seat.ts';
import type { WaitedFor } from './other-nodes.ts';
import { Recovery, type Step } from './recovery.ts';
import { startRefreshing } from './refresh-idle-users.ts';
import { replaceSession } from './replace-session.ts';
import { unsubscribe } from './subscription.ts';
import { refreshUser } from './user-record.ts';

/** Leases, rooms and codes reaped in one step: a few milliseconds of the store's time at most. */
const REAP_LIMIT = 100;
/**
 * Ticks within a lease, as the store is told: a process that was busy for a few ticks has not cost any seat its lease, so that
 * reaping need not wait for another one.
 */
const LEAST_TICKS = 4;

export interface RunningTick {
  /** The figures of each shard at its last visit; `undefined` before the first. */
  readonly stats: readonly (PoolStats | undefined)[];
  /** Every shard has been visited once, as far as the store has answered. */
  readonly begun: Promise<unknown>;
  stop: Stop;
}

export function startTick(context: ServerContext, iceServers: IceServers): RunningTick {
  const { registry, clock, options, random } = context;
  const stats = Array.from({ length: SHARDS }, (): PoolStats | undefined => undefined);
  const visiting = new Set<number>();

  /** At most one visit of a shard is under way: a slow store is not asked the same again. */
  const visitOnce = async (shard: number): Promise<void> => {
    if (visiting.has(shard)) return;
    visiting.add(shard);
    try {
      await visitShard(context, shard, recovery, stats);
    } catch (error) {
      context.faults(error, 'tick');
    } finally {
      visiting.delete(shard);
    }
  };
  const recovery = new Recovery(context, visitOnce);

  // All at once, so that the figures of the pool are known from the beginning.
  const begun = Promise.all(stats.map((_, shard) => visitOnce(shard)));
  let next = random.integer(SHARDS);
  const visitNext = (): void => {
    // Whether the store answers or not: credentials do not need it.
    for (const { sessions } of registry.roomsOfShard(next)) {
      for (const session of sessions.values()) iceServers.refresh(session);
    }
    void visitOnce(next);
    next = (next + 1) % SHARDS;
  };
  const stop = startTogether([
    () => clock.every(options.tickMs / SHARDS, visitNext),
    () => recovery.start(),
    () => startRefreshing(context),
  ]);
  return { stats, begun, stop };
}

/** @throws what the engine throws. */
async function visitShard(
  context: ServerContext,
  shard: number,
  recovery: Recovery,
  stats: (PoolStats | undefined)[],
): Promise<void> {
  for (let step: Step = { again: true }; step.again; ) {
    const outcome = await tickShard(context, shard, step.waitedFor);
    stats[shard] = outcome.poolStats;
    announce(context, outcome);
    for (const key of outcome.lost) recoverLostSeat(context, key);
    // Rooms are not read while the shard recovers. One turn later: events just announced reach the clients of this node
    // before the revision that they lead to.
    if (outcome.recoveringMs === 0) context.clock.nextTurn(() => pushRevisions(context, outcome.revs));
    const next = await recovery.follow(shard, outcome, step.waitedFor !== undefined);
    step = { ...next, again: next.again || outcome.more };
  }
}

function tickShard(context: ServerContext, shard: number, waitedFor?: WaitedFor): Promise<Outcome<Tick>> {
  const { engine, nodeId, options, registry } = context;
  const knownEpoch = registry.epochOf(shard);
  const rooms = [...registry.roomsOfShard(shard)];
  return engine.apply({
    kind: 'tick',
    shard,
    held: seatsOf(context, shard),
    limit: REAP_LIMIT,
    rooms: rooms.map(({ code, ref, kept }) => ({ code, ref, rev: kept.knownRev })),
    sole: waitedFor?.sole ?? false,
    ...(knownEpoch !== undefined && { knownEpoch }),
    ...(waitedFor && { restored: { by: nodeId, connected: waitedFor.connected } }),
    everyMs: Math.max(options.tickMs, options.userTtlMs / LEAST_TICKS),
  });
}

function seatsOf({ registry }: ServerContext, shard: number): SeatKey[] {
  return [...registry.roomsOfShard(shard)].flatMap(({ sessions }) =>
    [...sessions.values()].flatMap(({ seatKey }) => seatKey ?? []),
  );
}

/**
 * The store says that this session does not hold the seat any more. Another node may be about to say why, so it waits. If
 * none does: either a later session of the user has the seat, and this one ends; or the client is made to reconnect, and
 * the welcome tells it where it stands.
 */
function recoverLostSeat(context: ServerContext, { ref, userId, session: number }: SeatKey): void {
  const { registry, clock } = context;
  const session = registry.member(ref, userId);
  if (session?.number !== number) return;
  const { seat } = session;
  clock.after(ROOM_END_LINGER_MS, () => {
    if (session.seat !== seat || !session.connected) return;
    registry.unsetSeat(session);
    unsubscribe(session, ref);
    refreshUser(context, session).then(
      (now) => (now === undefined ? replaceSession(context, session) : dropSession(context, session)),
      () => dropSession(context, session),
    );
  });
}

/** Pub/sub may lose the last event of a room, and no later one would reveal the gap. */
function pushRevisions({ registry }: ServerContext, revs: Outcome<Tick>['revs']): void {
  for (const { code, ref, rev, seats } of revs) {
    const room = registry.room(ref);
    if (room === undefined) continue;
    if (rev > room.rev) for (const session of room.sessions.values()) session.push('room:rev', { code, ref, rev });
    room.rev = rev;
    // Members that join and leave on other nodes are told to clients, not to this node.
    room.seats = seats;
  }
}
