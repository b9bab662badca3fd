/**
 * Gives back to the store what this node knows of a shard, when the shard is in another epoch than the node: the store has
 * lost its latest state, or all of it. What has failed is tried again at the next visit.
 */

import type { RoomCode } from '../../protocol/ids.ts';
import type { RoomSnapshot } from '../../protocol/snapshot.ts';
import type { Restore, SeatKey } from '../../room/commands.ts';
import { codeAt, shardOf } from '../../room/pool.ts';
import { StoreRecovering } from '../../support/store.ts';
import type { ServerContext } from '../context.ts';
import type { Session } from '../sessions/session.ts';
import type { LocalRoom } from '../sessions/session-registry.ts';
import { announce } from './announce.ts';
import { refreshUserSoon } from './user-record.ts';

/** Codes drawn for a room that has lost its own. With half the pool taken, all are taken once in 256 times; then the script scans. */
const DRAWS = 8;

/** Restores of one shard that are under way at the same time. */
const BATCH_SIZE = 20;

/** @throws StoreUnavailable when something has not been restored. */
export async function restoreRooms(context: ServerContext, shard: number, epoch: number): Promise<void> {
  const rooms = [...context.registry.roomsOfShard(shard)].filter((room) => room.epoch !== epoch);
  for (let done = 0; done < rooms.length; done += BATCH_SIZE)
    await Promise.all(rooms.slice(done, done + BATCH_SIZE).map((room) => restoreRoom(context, room, epoch)));
}

/** Codes that this node has seen released go on cooling. @throws StoreUnavailable */
export async function coolAgain({ engine, released }: ServerContext, shard: number): Promise<void> {
  const codes = released.coolingIn(shard);
  if (codes.length > 0) await engine.apply({ kind: 'cool', shard, codes });
}

/** Seats that this node has seen end do so again: a later session of the user makes it a refusal. @throws StoreUnavailable */
export async function leaveAgain(context: ServerContext, shard: number): Promise<void> {
  for (const key of context.departed.ofShard(shard)) {
    try {
      const outcome = await context.engine.apply({ kind: 'leave', ...key });
      if (outcome.ok) announce(context, outcome);
    } catch (error) {
      // There is no such seat, which is not refused for good meanwhile.
      if (!(error instanceof StoreRecovering)) throw error;
    }
  }
}

async function restoreRoom(context: ServerContext, room: LocalRoom, epoch: number): Promise<void> {
  const { engine, log } = context;
  const sessions = [...room.sessions.values()];
  const keys = sessions.flatMap(({ seatKey }) => seatKey ?? []);
  const outcome = await engine.apply(restoreOf(context, room, sessions));
  if (!outcome.ok) {
    // Final: the room has ended meanwhile, or this node was given up. The next tick reports its seats as lost.
    room.epoch = epoch;
    log.warn({ ref: room.ref, reason: outcome.reason }, 'a room was not restored');
    return;
  }
  room.epoch = outcome.epoch;
  room.kept.learnSnapshot(outcome.room);
  if (outcome.room.code !== room.code) moveRoom(context, room, outcome.room);
  log.info({ ref: room.ref, seats: sessions.length }, 'a room was restored');
  await giveBackLeftSeats(context, keys, outcome.room.code);
}

function restoreOf(context: ServerContext, room: LocalRoom, sessions: readonly Session[]): Restore {
  const { pool, random, nodeId } = context;
  const shard = shardOf(room.code);
  const index = () => random.integer(pool.perShard);
  return {
    kind: 'restore',
    code: room.code,
    ref: room.ref,
    sinceEpoch: room.epoch,
    room: room.kept.copy,
    seats: sessions.flatMap(({ userId, number, seatCopy }) =>
      seatCopy === null ? [] : [{ ...seatCopy, userId, state: 'present', session: number, nodeId }],
    ),
    candidates: Array.from({ length: DRAWS }, () => codeAt(pool, shard, index())),
    searchFrom: index(),
  };
}

/** Every node that has members of the room learns it by a restore of its own, and tells its clients. */
function moveRoom(context: ServerContext, room: LocalRoom, { code, rev }: RoomSnapshot): void {
  const { ref, code: previousCode } = room;
  context.registry.changeCode(room, code);
  for (const session of room.sessions.values()) {
    session.push('room:code-changed', { code, ref, rev, previousCode });
    refreshUserSoon(context, session);
  }
}

/** A session that has left or ended while its seat was being restored. */
async function giveBackLeftSeats(context: ServerContext, keys: readonly SeatKey[], code: RoomCode): Promise<void> {
  const { engine, registry } = context;
  const left = keys.filter(({ ref, userId, session }) => registry.member(ref, userId)?.number !== session);
  for (const key of left) {
    const isConnected = registry.get(key.userId)?.number === key.session;
    const outcome = await engine.apply({ kind: isConnected ? 'leave' : 'suspend', ...key, code });
    if (outcome.ok) announce(context, outcome);
  }
}
