/** The deliveries of a single process: they end with it, as its feed does. */
import type { FeedEvent } from '../protocol/feed.ts';
import { SerialQueue } from '../support/async/serial-queue.ts';
import type { Clock } from '../support/clock.ts';
import { type Agenda, createAgenda } from './agenda.ts';
import {
  type Buried,
  type BuriedPage,
  type Deliveries,
  type Delivery,
  type EndpointId,
  LEAST_ATTEMPTS,
  MOST_DEAD,
  MOST_READ,
  type Settled,
  type TakeAsk,
  type Verdict,
} from './deliveries.ts';
import type { Feed, FeedPosition } from './feed.ts';

/** The lane of the events that belong to no room. */
const NO_ROOM = '-';

interface Queued {
  readonly event: FeedEvent;
  readonly since: number;
}

interface Lane {
  readonly name: string;
  readonly queue: Queued[];
  /** Of the head. */
  failures: number;
  /** Of the last taking; undefined when nobody has it. */
  ticket: number | undefined;
}

interface Endpoint {
  readonly lanes: Map<string, Lane>;
  /** When the heads of the lanes are tried, or their leases end. */
  readonly agenda: Agenda<Lane>;
  /** By the number of the burial, which rises. */
  readonly dead: Map<number, Buried>;
  position: FeedPosition | undefined;
  /** Counts tickets and burials. */
  count: number;
  pending: number;
  dropped: number;
  lost: number;
  lastError: { readonly reason: string; readonly at: number } | undefined;
  lastDeliveredAt: number | undefined;
}

export function createMemoryDeliveries(feed: Pick<Feed, 'read'>, clock: Pick<Clock, 'now'>): Deliveries {
  const endpoints = new Map<EndpointId, Endpoint>();
  const queue = new SerialQueue();

  const known = async (id: EndpointId, ask: TakeAsk): Promise<Endpoint> => {
    const found = endpoints.get(id);
    if (found !== undefined) return found;
    const made = newEndpoint(ask.from === 'end' ? await endOf(feed) : undefined);
    endpoints.set(id, made);
    return made;
  };
  const read = (id: EndpointId): Endpoint => endpoints.get(id) ?? newEndpoint(undefined);

  return {
    // One after the other: reading the feed waits, and two that read from one place would queue everything twice.
    take: (id, ask) =>
      queue.run(async () => {
        const endpoint = await known(id, ask);
        const news = await queueNews(endpoint, feed, ask, clock.now());
        return { ...news, deliveries: takeDue(endpoint, ask, clock.now()) };
      }),
    async settle(id, { lane: name, eventId, ticket }, verdict, again): Promise<Settled> {
      const endpoint = read(id);
      const lane = endpoint.lanes.get(name);
      const head = lane?.queue[0];
      if (!lane || head?.event.id !== eventId || lane.ticket !== ticket)
        return { current: false, died: false, next: undefined };
      const { moves, died } = judge(endpoint, lane, head, verdict, clock.now());
      const next = moves && again ? takeHead(endpoint, lane, clock.now() + again.leaseMs) : undefined;
      return { current: true, died, next };
    },
    async figures(id) {
      const { dead, pending, dropped, lost, lastError, lastDeliveredAt } = read(id);
      return { pending, dead: dead.size, dropped, lost, lastError, lastDeliveredAt };
    },
    dead: async (id, ask) => pageOf(read(id), ask.after, ask.limit),
    replay: async (id, eventIds) => raise(read(id), eventIds, clock.now()),
  };
}

const newEndpoint = (position: FeedPosition | undefined): Endpoint => ({
  lanes: new Map(),
  agenda: createAgenda(),
  dead: new Map(),
  position,
  count: 0,
  pending: 0,
  dropped: 0,
  lost: 0,
  lastError: undefined,
  lastDeliveredAt: undefined,
});

async function endOf(feed: Pick<Feed, 'read'>): Promise<FeedPosition | undefined> {
  let page = await feed.read({ limit: MOST_READ });
  while (page.events.length > 0) page = await feed.read({ after: page.position, limit: MOST_READ });
  return page.position;
}

async function queueNews(endpoint: Endpoint, feed: Pick<Feed, 'read'>, { types, most }: TakeAsk, now: number) {
  const limit = Math.min(MOST_READ, most - endpoint.pending);
  if (limit <= 0) return { more: false, lost: 0 };
  const { events, position, lost } = await feed.read({ after: endpoint.position, limit });
  endpoint.position = position;
  endpoint.lost += lost;
  for (const event of events) if (types?.includes(event.type) ?? true) enqueue(endpoint, event, now);
  return { more: events.length === limit, lost };
}

function enqueue(endpoint: Endpoint, event: FeedEvent, now: number): void {
  const name = event.ref ?? NO_ROOM;
  const lane = endpoint.lanes.get(name) ?? openLane(endpoint, name, now);
  lane.queue.push({ event, since: now });
  endpoint.pending += 1;
}

function openLane({ lanes, agenda }: Endpoint, name: string, now: number): Lane {
  const lane: Lane = { name, queue: [], failures: 0, ticket: undefined };
  lanes.set(name, lane);
  agenda.set(lane, now);
  return lane;
}

const takeDue = (endpoint: Endpoint, { rooms, leaseMs }: TakeAsk, now: number): Delivery[] =>
  endpoint.agenda.takeDue(now, rooms).flatMap((lane) => takeHead(endpoint, lane, now + leaseMs) ?? []);

function takeHead(endpoint: Endpoint, lane: Lane, until: number): Delivery | undefined {
  const head = lane.queue[0];
  if (head === undefined) return undefined;
  endpoint.count += 1;
  lane.ticket = endpoint.count;
  endpoint.agenda.set(lane, until);
  const { event } = head;
  const { name, failures, ticket } = lane;
  return { lane: name, eventId: event.id, body: JSON.stringify(event), failures, ticket };
}

/** What a verdict means for the head; `moves` tells whether the lane may go on at once. */
function judge(endpoint: Endpoint, lane: Lane, head: Queued, verdict: Verdict, now: number) {
  lane.ticket = undefined;
  endpoint.agenda.set(lane, now);
  if (verdict.kind === 'released') return { moves: false, died: false };
  if (verdict.kind === 'delivered') {
    endpoint.lastDeliveredAt = now;
    pop(endpoint, lane);
    return { moves: true, died: false };
  }
  const { reason, retryMs, giveUpMs } = verdict;
  endpoint.lastError = { reason, at: now };
  lane.failures += 1;
  if (now < head.since + giveUpMs || lane.failures < LEAST_ATTEMPTS) {
    endpoint.agenda.set(lane, now + retryMs);
    return { moves: false, died: false };
  }
  bury(endpoint, { event: head.event, attempts: lane.failures, reason, at: now });
  pop(endpoint, lane);
  return { moves: true, died: true };
}

function pop(endpoint: Endpoint, lane: Lane): void {
  lane.queue.shift();
  lane.failures = 0;
  endpoint.pending -= 1;
  if (lane.queue.length > 0) return;
  endpoint.lanes.delete(lane.name);
  endpoint.agenda.delete(lane);
}

function bury(endpoint: Endpoint, letter: Buried): void {
  endpoint.count += 1;
  endpoint.dead.set(endpoint.count, letter);
  for (const number of endpoint.dead.keys()) {
    if (endpoint.dead.size <= MOST_DEAD) return;
    endpoint.dead.delete(number);
    endpoint.dropped += 1;
  }
}

function pageOf({ dead }: Endpoint, after: string | undefined, limit: number): BuriedPage | undefined {
  if (after !== undefined && !/^\d+$/.test(after)) return undefined;
  const before = after === undefined ? Number.POSITIVE_INFINITY : Number(after);
  const burials = [...dead].reverse().filter(([number]) => number < before);
  const page = burials.slice(0, limit);
  const more = burials.length > page.length;
  return { letters: page.map(([, letter]) => letter), next: more ? String(page.at(-1)?.[0]) : undefined };
}

function raise(endpoint: Endpoint, eventIds: readonly string[] | undefined, now: number): number {
  const wanted = eventIds && new Set(eventIds);
  const risen = [...endpoint.dead].filter(([, { event }]) => wanted?.has(event.id) ?? true);
  for (const [number, { event }] of risen) {
    endpoint.dead.delete(number);
    enqueue(endpoint, event, now);
  }
  return risen.length;
}
