/**
 * The tick: one loop renews what this node holds and reaps what is due, whichever node held it. Every shard is visited
 * once per `tickMs`, spread evenly: seats held here are renewed, because a connection that answers pings is alive, and
 * expired leases, rooms and codes are reaped. No leader, no lock. TURN credentials about to expire are renewed on the way.
 */
import type { Outcome, SeatKey, Tick } from '../../room/commands.ts';
import type { PoolStats } from '../../room/outcomes.ts';
import { SHARDS } from '../../room/pool.ts';
import type { Stop } from '../../support/clock.ts';
import type { ServerContext } from '../context.ts';
import type { IceServers } from '../sessions/ice-servers.ts';
import { announce } from './announce.ts';
import { ROOM_END_LINGER_MS } from './local-seat.ts';
import { startRefreshing } from './refresh-idle-users.ts';
import { replaceSession } from './replace-session.ts';
import { unsubscribe } from './subscription.ts';
import { refreshUser } from './user-record.ts';

/** Leases, rooms and codes reaped in one step: a few milliseconds of the store's time at most. */
const REAP_LIMIT = 100;

export interface RunningTick {
  /** The figures of each shard at its last visit; `undefined` before the first. */
  readonly stats: readonly (PoolStats | undefined)[];
  stop: Stop;
}

export function startTick(context: ServerContext, iceServers: IceServers): RunningTick {
  const { registry, clock, options, random } = context;
  const stats = Array.from({ length: SHARDS }, (): PoolStats | undefined => undefined);
  const visiting = new Set<number>();

  /** At most one visit of a shard is under way: a slow store is not asked the same again. */
  const visitOnce = (shard: number): void => {
    if (visiting.has(shard)) return;
    visiting.add(shard);
    visitShard(context, shard, stats)
      .catch((error: unknown) => void context.faults(error, 'tick'))
      .finally(() => visiting.delete(shard));
  };

  // All at once, so that the figures of the pool are known from the beginning.
  for (let shard = 0; shard < SHARDS; shard += 1) visitOnce(shard);
  let next = random.integer(SHARDS);
  const stopVisits = clock.every(options.tickMs / SHARDS, () => {
    // Whether the store answers or not: credentials do not need it.
    for (const { sessions } of registry.roomsOfShard(next)) {
      for (const session of sessions.values()) iceServers.refresh(session);
    }
    visitOnce(next);
    next = (next + 1) % SHARDS;
  });
  const stopRefreshing = startRefreshing(context);
  return {
    stats,
    stop() {
      stopVisits();
      stopRefreshing();
    },
  };
}

/** @throws what the engine throws. */
async function visitShard(context: ServerContext, shard: number, stats: (PoolStats | undefined)[]): Promise<void> {
  for (let more = true; more; ) {
    const held = seatsOf(context, shard);
    const outcome = await context.engine.apply({
      kind: 'tick',
      shard,
      held,
      limit: REAP_LIMIT,
      rooms: [],
      sole: false,
      everyMs: Number.MAX_SAFE_INTEGER,
    });
    stats[shard] = outcome.poolStats;
    announce(context, outcome);
    for (const key of outcome.lost) recoverLostSeat(context, key);
    // One turn later: events just announced reach the clients of this node before the revision that they lead to.
    context.clock.nextTurn(() => pushRevisions(context, outcome.revs));
    more = outcome.more;
  }
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
      (now) => (now === undefined ? replaceSession(context, session) : session.drop()),
      () => session.drop(),
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
