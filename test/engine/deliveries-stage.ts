/** Stores of deliveries for tests, with a feed that is written by hand. */
import { createClient } from 'redis';
import type { Deliveries, Delivery, Settled, TakeAsk, Verdict } from '../../src/engine/deliveries.ts';
import { createMemoryDeliveries } from '../../src/engine/memory-deliveries.ts';
import { createMemoryFeed } from '../../src/engine/memory-feed.ts';
import { createRedisDeliveries } from '../../src/engine/redis/deliveries.ts';
import { createKeys } from '../../src/engine/redis/keys.ts';
import { loadDeliveryScripts } from '../../src/engine/redis/scripts.ts';
import type { FeedEvent } from '../../src/protocol/feed.ts';
import type { NodeId, RoomCode, RoomRef, UserId } from '../../src/protocol/ids.ts';
import { connectRedis } from '../../src/redis/connect.ts';
import { ScriptRunner } from '../../src/redis/script-runner.ts';
import { systemClock } from '../../src/support/clock.ts';
import { createHandClock, type HandClock } from './stage.ts';

export const LEASE_MS = 20_000;
export const DAY_MS = 86_400_000;
/** The feed keeps so many after `trim`. */
export const KEPT = 600;

export interface DeliveryStage extends AsyncDisposable {
  readonly clock: HandClock;
  readonly deliveries: Deliveries;
  tell(...events: readonly FeedEvent[]): Promise<void>;
  /** How many parts the queues of an endpoint are in. */
  readonly parts: number;
  /** Lets all but the newest `KEPT` of the feed go, where it does not do so by itself. */
  trim(): Promise<void>;
  /** Nothing is there any more, as after a FLUSHALL; undefined where a store cannot forget. */
  readonly empty: (() => Promise<void>) | undefined;
}

export const ref = (number: number): RoomRef => `ROM2026${String(number).padStart(8, '0')}` as RoomRef;

/** The scripts of rooms write these first. */
const asWritten = ({ id, type, code, ref, ...rest }: FeedEvent): string =>
  JSON.stringify({ id, type, code, ref, ...rest });

/** The event that brings a room to a revision. */
export function event(room: number, rev: number, type: 'user_away' | 'user_joined' = 'user_away'): FeedEvent {
  const head = {
    id: `${ref(room)}:${rev}`,
    code: '100007' as RoomCode,
    ref: ref(room),
    rev,
    userId: 'anna' as UserId,
    serverId: 'node-a',
    timestamp: 1_800_000_000_000,
  };
  const member = {
    userId: head.userId,
    name: 'Ännchen "A"',
    role: 'member',
    state: 'present',
    seq: 1,
    joinedAt: 1,
  } as const;
  return type === 'user_away' ? { ...head, type } : { ...head, type, member };
}

export function poolLow(number: number): FeedEvent {
  const figures = { free: 1, occupied: 2, cooling: 3, total: 6 };
  const nowhere = { code: null, ref: null, rev: null, userId: null };
  return { id: `pool_low:${number}`, type: 'pool_low', ...nowhere, ...figures, serverId: 'node-a', timestamp: 1 };
}

export const take = (stage: DeliveryStage, ask: Partial<TakeAsk> = {}, endpoint = 'first') =>
  stage.deliveries.take(endpoint, {
    types: undefined,
    rooms: 32,
    leaseMs: LEASE_MS,
    most: 100_000,
    from: 'end',
    ...ask,
  });

export async function takeIds(stage: DeliveryStage, ask: Partial<TakeAsk> = {}, endpoint = 'first'): Promise<string[]> {
  return (await take(stage, ask, endpoint)).deliveries.map(({ eventId }) => eventId);
}

export const failed = (retryMs = 1_000, giveUpMs = DAY_MS): Verdict => ({
  kind: 'failed',
  reason: 'answered 500',
  retryMs,
  giveUpMs,
});

export const settle = (
  { deliveries }: DeliveryStage,
  delivery: Delivery,
  verdict: Verdict = { kind: 'delivered' },
  endpoint = 'first',
): Promise<Settled> => deliveries.settle(endpoint, delivery, verdict, { leaseMs: LEASE_MS });

export function memoryStage(): DeliveryStage {
  const clock = createHandClock();
  const feed = createMemoryFeed('node-a' as NodeId, KEPT, clock);
  return {
    clock,
    deliveries: createMemoryDeliveries(feed, clock),
    tell: async (...events) => feed.append(events),
    parts: 1,
    trim: async () => {},
    empty: undefined,
    async [Symbol.asyncDispose]() {},
  };
}

export async function redisStage(url: string, clustered: boolean): Promise<DeliveryStage> {
  const clock = createHandClock();
  const admin = createClient({ url });
  await admin.connect();
  await admin.flushAll();
  const clients = await connectRedis({ url });
  const runner = new ScriptRunner({
    client: clients.state,
    deadlineMs: 60_000,
    complete: () => true,
    onChange: () => {},
    clock: systemClock,
  });
  const keys = createKeys('sb:', clustered);
  const streamOf = ({ ref: room }: FeedEvent): string =>
    keys.feeds[room === null ? 0 : Number(room.slice(3)) % keys.feeds.length] ?? keys.feeds[0];
  return {
    clock,
    deliveries: createRedisDeliveries({ runner, keys, scripts: loadDeliveryScripts(), clock }),
    async tell(...events) {
      await Promise.all(events.map((one) => admin.xAdd(streamOf(one), '*', { event: asWritten(one) })));
    },
    parts: keys.feeds.length,
    async trim() {
      await Promise.all(keys.feeds.map((stream) => admin.xTrim(stream, 'MAXLEN', KEPT)));
    },
    empty: async () => void (await admin.flushAll()),
    async [Symbol.asyncDispose]() {
      await clients.close();
      admin.destroy();
    },
  };
}
