/** The webhook queue of a single process: it ends with the process, as the memory engine's feed does. */
import type { Feed, FeedPosition } from '../../engine/feed.ts';
import type { FeedEvent } from '../../protocol/feed.ts';
import { SerialQueue } from '../../support/async/serial-queue.ts';
import type { Clock } from '../../support/clock.ts';
import { createDueQueue, type DueQueue } from './due-queue.ts';
import {
  type ClaimRequest,
  type Completed,
  type DeadLetter,
  type DeadLetterPage,
  type Delivery,
  type DeliveryResult,
  type EndpointId,
  MAX_DEAD_LETTERS,
  MAX_READ,
  MIN_ATTEMPTS,
  type WebhookQueue,
} from './queue.ts';

/** The name of the queue of events that belong to no room. */
const NO_ROOM = '-';

/** When a delivery was completed: by the monotonic clock, for waits, and by the wall clock, for people. */
interface CompletedAt {
  readonly now: number;
  readonly instant: number;
}

interface QueuedEvent {
  readonly event: FeedEvent;
  /** By the monotonic clock. */
  readonly queuedAt: number;
}

interface RoomQueue {
  readonly name: string;
  readonly events: QueuedEvent[];
  /** Of the head. */
  failures: number;
  /** Of the last claim; undefined when the head is not claimed. */
  claimToken: number | undefined;
}

interface EndpointState {
  readonly roomQueues: Map<string, RoomQueue>;
  /** When the heads of the room queues are tried, or their leases end. */
  readonly due: DueQueue<RoomQueue>;
  /** By sequence number, ascending. */
  readonly dead: Map<number, DeadLetter>;
  position: FeedPosition | undefined;
  /** The last number that was given to a claim or a dead letter. */
  sequence: number;
  pending: number;
  dropped: number;
  lost: number;
  lastError: { readonly reason: string; readonly at: number } | undefined;
  lastDeliveredAt: number | undefined;
}

type ReadFeed = Pick<Feed, 'read'>;

export function createMemoryQueue(feed: ReadFeed, clock: Pick<Clock, 'now' | 'monotonic'>): WebhookQueue {
  const endpoints = new Map<EndpointId, EndpointState>();
  // Reading the feed is asynchronous: two claims from one position would queue everything twice.
  const claims = new SerialQueue();
  const find = (id: EndpointId): EndpointState => endpoints.get(id) ?? newEndpoint(undefined);

  return {
    claim: (id, request) =>
      claims.run(async () => {
        const endpoint = endpoints.get(id) ?? newEndpoint(request.from === 'end' ? await endOf(feed) : undefined);
        endpoints.set(id, endpoint);
        const news = await queueNewEvents(endpoint, feed, request, clock.monotonic());
        return { ...news, deliveries: claimDue(endpoint, request, clock.monotonic()) };
      }),
    complete: async (id, delivery, result, claimNext) =>
      completeDelivery(find(id), delivery, result, {
        now: clock.monotonic(),
        instant: clock.now(),
        leaseMs: claimNext?.leaseMs,
      }),
    async stats(id) {
      const { dead, pending, dropped, lost, lastError, lastDeliveredAt } = find(id);
      return { pending, dead: dead.size, dropped, lost, lastError, lastDeliveredAt };
    },
    deadLetters: async (id, { after, limit }) => pageOf(find(id), after, limit),
    replay: async (id, eventIds) => replayDead(find(id), eventIds, clock.monotonic()),
  };
}

const newEndpoint = (position: FeedPosition | undefined): EndpointState => ({
  roomQueues: new Map(),
  due: createDueQueue(),
  dead: new Map(),
  position,
  sequence: 0,
  pending: 0,
  dropped: 0,
  lost: 0,
  lastError: undefined,
  lastDeliveredAt: undefined,
});

async function endOf(feed: ReadFeed): Promise<FeedPosition | undefined> {
  let page = await feed.read({ limit: MAX_READ });
  while (page.events.length > 0) page = await feed.read({ after: page.position, limit: MAX_READ });
  return page.position;
}

async function queueNewEvents(
  endpoint: EndpointState,
  feed: ReadFeed,
  { types, maxPending }: ClaimRequest,
  now: number,
) {
  const limit = Math.min(MAX_READ, maxPending - endpoint.pending);
  if (limit <= 0) return { more: false, lost: 0 };
  const { events, position, lost } = await feed.read({ after: endpoint.position, limit });
  endpoint.position = position;
  endpoint.lost += lost;
  for (const event of events) if (types?.includes(event.type) ?? true) enqueue(endpoint, event, now);
  return { more: events.length === limit, lost };
}

function enqueue(endpoint: EndpointState, event: FeedEvent, now: number): void {
  const name = event.ref ?? NO_ROOM;
  const queue = endpoint.roomQueues.get(name) ?? addRoomQueue(endpoint, name, now);
  queue.events.push({ event, queuedAt: now });
  endpoint.pending += 1;
}

function addRoomQueue({ roomQueues, due }: EndpointState, name: string, now: number): RoomQueue {
  const queue: RoomQueue = { name, events: [], failures: 0, claimToken: undefined };
  roomQueues.set(name, queue);
  due.set(queue, now);
  return queue;
}

const claimDue = (endpoint: EndpointState, { maxRooms, leaseMs }: ClaimRequest, now: number): Delivery[] =>
  endpoint.due.popDue(now, maxRooms).flatMap((queue) => claimHead(endpoint, queue, now + leaseMs) ?? []);

function claimHead(endpoint: EndpointState, queue: RoomQueue, leaseEnd: number): Delivery | undefined {
  const head = queue.events[0];
  if (head === undefined) return undefined;
  endpoint.sequence += 1;
  const claimToken = endpoint.sequence;
  queue.claimToken = claimToken;
  endpoint.due.set(queue, leaseEnd);
  const { event } = head;
  const { name, failures } = queue;
  return { roomQueue: name, eventId: event.id, body: JSON.stringify(event), failures, claimToken };
}

function completeDelivery(
  endpoint: EndpointState,
  delivery: Pick<Delivery, 'roomQueue' | 'eventId' | 'claimToken'>,
  result: DeliveryResult,
  { leaseMs, ...at }: CompletedAt & { readonly leaseMs: number | undefined },
): Completed {
  const queue = endpoint.roomQueues.get(delivery.roomQueue);
  const head = queue?.events[0];
  if (!queue || head?.event.id !== delivery.eventId || queue.claimToken !== delivery.claimToken) {
    return { current: false, dead: false, next: undefined };
  }
  const { removed, dead } = applyResult(endpoint, queue, head, result, at);
  const next = removed && leaseMs !== undefined ? claimHead(endpoint, queue, at.now + leaseMs) : undefined;
  return { current: true, dead, next };
}

/** @returns whether the head was removed, so that the next event may be sent, and whether it is a dead letter now. */
function applyResult(
  endpoint: EndpointState,
  queue: RoomQueue,
  head: QueuedEvent,
  result: DeliveryResult,
  { now, instant }: CompletedAt,
) {
  queue.claimToken = undefined;
  endpoint.due.set(queue, now);
  if (result.kind === 'released') return { removed: false, dead: false };
  if (result.kind === 'delivered') {
    endpoint.lastDeliveredAt = instant;
    removeHead(endpoint, queue);
    return { removed: true, dead: false };
  }
  const { reason, retryMs, giveUpMs } = result;
  endpoint.lastError = { reason, at: instant };
  queue.failures += 1;
  if (now < head.queuedAt + giveUpMs || queue.failures < MIN_ATTEMPTS) {
    endpoint.due.set(queue, now + retryMs);
    return { removed: false, dead: false };
  }
  addDeadLetter(endpoint, { event: head.event, attempts: queue.failures, reason, at: instant });
  removeHead(endpoint, queue);
  return { removed: true, dead: true };
}

function removeHead(endpoint: EndpointState, queue: RoomQueue): void {
  queue.events.shift();
  queue.failures = 0;
  endpoint.pending -= 1;
  if (queue.events.length > 0) return;
  endpoint.roomQueues.delete(queue.name);
  endpoint.due.delete(queue);
}

function addDeadLetter(endpoint: EndpointState, letter: DeadLetter): void {
  endpoint.sequence += 1;
  endpoint.dead.set(endpoint.sequence, letter);
  for (const number of endpoint.dead.keys()) {
    if (endpoint.dead.size <= MAX_DEAD_LETTERS) return;
    endpoint.dead.delete(number);
    endpoint.dropped += 1;
  }
}

function pageOf({ dead }: EndpointState, after: string | undefined, limit: number): DeadLetterPage | undefined {
  if (after !== undefined && !/^\d+$/.test(after)) return undefined;
  const before = after === undefined ? Number.POSITIVE_INFINITY : Number(after);
  const older = [...dead].reverse().filter(([number]) => number < before);
  const page = older.slice(0, limit);
  const more = older.length > page.length;
  return { letters: page.map(([, letter]) => letter), next: more ? String(page.at(-1)?.[0]) : undefined };
}

function replayDead(endpoint: EndpointState, eventIds: readonly string[] | undefined, now: number): number {
  const wanted = eventIds && new Set(eventIds);
  const replayed = [...endpoint.dead].filter(([, { event }]) => wanted?.has(event.id) ?? true);
  for (const [number, { event }] of replayed) {
    endpoint.dead.delete(number);
    enqueue(endpoint, event, now);
  }
  return replayed.length;
}
