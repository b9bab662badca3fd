/**
 * The webhook queue in Redis: one script for each call. The queues of an endpoint stand in the hash slot of the feed's
 * stream, because one script reads the stream and writes the queues. On a Cluster, where the feed has a stream for each
 * shard, an endpoint has a partition for each stream; a call goes to the partition of its room, or to all in turn.
 */
import type { Script } from '../../redis/script.ts';
import type { Runner } from '../../redis/script-runner.ts';
import type { Clock } from '../../support/clock.ts';
import {
  type Claimed,
  type ClaimRequest,
  type DeadLetterPage,
  type EndpointId,
  MAX_DEAD_LETTERS,
  MAX_READ,
  MAX_REPLAYED,
  MIN_ATTEMPTS,
  type WebhookQueue,
} from './queue.ts';
import { loadQueueScripts, Partitions } from './redis-partitions.ts';
import {
  claimReply,
  completeReply,
  deadLettersReply,
  parseDeadLetter,
  replayReply,
  statsReply,
  sum,
  sumOf,
} from './redis-replies.ts';

export interface RedisQueueOptions {
  readonly runner: Runner;
  /** The streams of the feed: one, or on a Cluster one for each shard. */
  readonly streams: readonly string[];
  /** Replaces the time of Redis: for tests. */
  readonly clock?: Pick<Clock, 'now'> | undefined;
}

/** @throws StoreUnavailable */
export async function createRedisQueue({ runner, streams, clock }: RedisQueueOptions): Promise<WebhookQueue> {
  const scripts = loadQueueScripts();
  await runner.load(Object.values<Script>(scripts));
  const partitions = new Partitions({ runner, streams, scripts, clock });
  return {
    claim: (endpoint, request) => claim(partitions, endpoint, request),
    async complete(endpoint, { roomQueue, eventId, claimToken }, result, claimNext) {
      const [partition, name] = partitions.locate(roomQueue);
      const delivery = { roomQueue: name, eventId, claimToken };
      const command = { ...delivery, result, ...claimNext, minAttempts: MIN_ATTEMPTS, maxDead: MAX_DEAD_LETTERS };
      const { next, ...completed } = completeReply(await partitions.run('complete', endpoint, partition, command));
      return { ...completed, next: next && { ...next, roomQueue } };
    },
    async stats(endpoint) {
      const replies = await Promise.all(
        partitions.all.map((partition) => partitions.run('stats', endpoint, partition, {})),
      );
      return sumOf(replies.map(statsReply));
    },
    async deadLetters(endpoint, { after, limit }) {
      const start = parsePosition(after ?? '0:', partitions.all);
      return start && readDeadLetters(partitions, endpoint, start, limit);
    },
    async replay(endpoint, eventIds) {
      const batches = eventIds === undefined ? [undefined] : chunks(eventIds, MAX_REPLAYED);
      let replayed = 0;
      for (const partition of partitions.all) {
        for (const ids of batches) replayed += await replay(partitions, endpoint, partition, ids);
      }
      return replayed;
    },
  };
}

async function claim(partitions: Partitions, endpoint: EndpointId, request: ClaimRequest): Promise<Claimed> {
  const inTurn = partitions.rotated();
  const maxPending = Math.ceil(request.maxPending / inTurn.length);
  const claimed: Claimed[] = [];
  let { maxRooms } = request;
  for (const partition of inTurn) {
    const command = { ...request, maxRooms, maxPending, maxRead: MAX_READ };
    const { deliveries, ...rest } = claimReply(await partitions.run('claim', endpoint, partition, command));
    maxRooms -= deliveries.length;
    const located = deliveries.map((one) => ({ ...one, roomQueue: partitions.locator(partition, one.roomQueue) }));
    claimed.push({ ...rest, deliveries: located });
  }
  return {
    deliveries: claimed.flatMap(({ deliveries }) => deliveries),
    more: claimed.some(({ more }) => more),
    lost: sum(claimed.map(({ lost }) => lost)),
    now: claimed.at(-1)?.now,
  };
}

/** @returns how many of that partition. */
async function replay(
  partitions: Partitions,
  endpoint: EndpointId,
  partition: number,
  eventIds: readonly string[] | undefined,
): Promise<number> {
  let replayed = 0;
  let upTo: number | undefined;
  do {
    const command = { eventIds, upTo, maxReplayed: MAX_REPLAYED };
    const reply = replayReply(await partitions.run('replay', endpoint, partition, command));
    replayed += reply.replayed;
    upTo = reply.upTo;
  } while (upTo !== undefined);
  return replayed;
}

/** Dead letters are listed from the one before this sequence number on; from the newest of the partition without one. */
type DeadLetterPosition = readonly [partition: number, before: number | undefined];

async function readDeadLetters(
  partitions: Partitions,
  endpoint: EndpointId,
  [partition, before]: DeadLetterPosition,
  limit: number,
): Promise<DeadLetterPage> {
  const reply = await partitions.run('deadLetters', endpoint, partition, { before, limit });
  const [left, ...letters] = deadLettersReply(reply);
  const isLast = !partitions.all.includes(partition + 1);
  // An empty page would look like the end of the list.
  if (left === '' && letters.length === 0 && !isLast) {
    return readDeadLetters(partitions, endpoint, [partition + 1, undefined], limit);
  }
  const following = isLast ? undefined : `${partition + 1}:`;
  return { letters: letters.map(parseDeadLetter), next: left === '' ? following : `${partition}:${left}` };
}

/** `<partition>:<sequence number>`, the number may be missing. */
function parsePosition(position: string, partitions: readonly number[]): DeadLetterPosition | undefined {
  const [, partition, before] = /^(\d{1,3}):(\d{0,15})$/.exec(position) ?? [];
  if (before === undefined || !partitions.includes(Number(partition))) return undefined;
  return [Number(partition), before === '' ? undefined : Number(before)];
}

function chunks<T>(items: readonly T[], size: number): T[][] {
  const count = Math.ceil(items.length / size);
  return Array.from({ length: count }, (_, index) => items.slice(index * size, (index + 1) * size));
}
