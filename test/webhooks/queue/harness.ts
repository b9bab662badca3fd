/** Webhook queues for tests, over a feed that tests append to. */
import { createClient } from 'redis';
import { createMemoryFeed } from '../../../src/engine/memory-feed.ts';
import { createKeys } from '../../../src/engine/redis/keys.ts';
import type { FeedEvent } from '../../../src/protocol/feed.ts';
import type { NodeId, RoomCode, RoomRef, UserId } from '../../../src/protocol/ids.ts';
import { connectRedis } from '../../../src/redis/connect.ts';
import { createMemoryQueue } from '../../../src/webhooks/queue/memory.ts';
import type {
  ClaimRequest,
  Completed,
  Delivery,
  DeliveryResult,
  WebhookQueue,
} from '../../../src/webhooks/queue/queue.ts';
import { createRedisQueue } from '../../../src/webhooks/queue/redis.ts';
import { createHandClock, type HandClock } from '../../engine/harness.ts';
import { runnerOn } from '../../redis/script-runner.ts';

export const LEASE_MS = 20_000;
export const DAY_MS = 86_400_000;
/** Events that the feed keeps after `trim`. */
export const KEPT = 600;

export interface QueueHarness extends AsyncDisposable {
  readonly clock: HandClock;
  readonly queue: WebhookQueue;
  /** Appends to the feed. */
  append(...events: readonly FeedEvent[]): Promise<void>;
  readonly partitions: number;
  /** Trims the feed to its newest `KEPT` events, where it does not do so by itself. */
  trim(): Promise<void>;
  /** FLUSHALL; undefined for the memory queue. */
  readonly empty: (() => Promise<void>) | undefined;
}

export const ref = (number: number): RoomRef => `ROM2026${String(number).padStart(8, '0')}` as RoomRef;

/** As the scripts of rooms write events: these fields first. */
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

export const claim = (harness: QueueHarness, request: Partial<ClaimRequest> = {}, endpoint = 'first') =>
  harness.queue.claim(endpoint, {
    types: undefined,
    maxRooms: 32,
    leaseMs: LEASE_MS,
    maxPending: 100_000,
    from: 'end',
    ...request,
  });

export async function claimIds(
  harness: QueueHarness,
  request: Partial<ClaimRequest> = {},
  endpoint = 'first',
): Promise<string[]> {
  return (await claim(harness, request, endpoint)).deliveries.map(({ eventId }) => eventId);
}

export const failed = (retryMs = 1_000, giveUpMs = DAY_MS): DeliveryResult => ({
  kind: 'failed',
  reason: 'answered 500',
  retryMs,
  giveUpMs,
});

export const complete = (
  { queue }: QueueHarness,
  delivery: Delivery,
  result: DeliveryResult = { kind: 'delivered' },
  endpoint = 'first',
): Promise<Completed> => queue.complete(endpoint, delivery, result, { leaseMs: LEASE_MS });

export function memoryHarness(): QueueHarness {
  const clock = createHandClock();
  const feed = createMemoryFeed('node-a' as NodeId, KEPT, clock);
  return {
    clock,
    queue: createMemoryQueue(feed, clock),
    append: async (...events) => feed.append(events),
    partitions: 1,
    trim: async () => {},
    empty: undefined,
    async [Symbol.asyncDispose]() {},
  };
}

export async function redisHarness(url: string, clustered: boolean): Promise<QueueHarness> {
  const clock = createHandClock();
  const admin = createClient({ url });
  await admin.connect();
  await admin.flushAll();
  const clients = await connectRedis({ url });
  const runner = runnerOn(clients.state);
  const keys = createKeys('sb:', { clustered });
  const streamOf = ({ ref: room }: FeedEvent): string =>
    keys.feeds[room === null ? 0 : Number(room.slice(3)) % keys.feeds.length] ?? keys.feeds[0];
  return {
    clock,
    queue: await createRedisQueue({ runner, streams: keys.feeds, clock }),
    async append(...events) {
      await Promise.all(events.map((one) => admin.xAdd(streamOf(one), '*', { event: asWritten(one) })));
    },
    partitions: keys.feeds.length,
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
