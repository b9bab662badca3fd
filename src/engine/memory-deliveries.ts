/** The deliveries of a single process: they end with it, as its feed does. */
import type { FeedEvent } from '../protocol/feed.ts';
import type { Clock } from '../support/clock.ts';
import {
  type Buried,
  type Deliveries,
  type Delivery,
  type EndpointId,
  LEAST_ATTEMPTS,
  MOST_DEAD,
  MOST_READ,
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
  readonly queue: Queued[];
  /** When its head is tried, or its lease ends. */
  due: number;
  /** Of the head. */
  failures: number;
  /** Of the last taking; undefined when nobody has it. */
  ticket: number | undefined;
}

interface Endpoint {
  readonly lanes: Map<string, Lane>;
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
  const inLine = createLine();

  const known = async (id: EndpointId, ask: TakeAsk): Promise<Endpoint> => {
    const found = endpoints.get(id);
    if (found !== undefined) return found;
    const made = newEndpoint(ask.from === 'end' ? await endOf(feed) : undefined);
    endpoints.set(id, made);
    return made;
  };

  return {
    // One after the other: reading the feed waits, and two that read from one place would queue everything twice.
    take: (id, ask) =>
      inLine(async () => {
        const endpoint = await known(id, ask);
        const news = await queueNews(endpoint, feed, ask, clock.now());
        return { ...news, deliveries: takeDue(endpoint, ask, clock.now()) };
      }),
    async settle(id, { lane: name, eventId, ticket }, verdict, again) {
      const endpoint = endpoints.get(id);
      const lane = endpoint?.lanes.get(name);
      const head = lane?.queue[0];
      if (!endpoint || !lane || head?.event.id !== eventId || lane.ticket !== ticket)
        return { current: false, died: false, next: undefined };
      const { moves, died } = judge(endpoint, lane, head, verdict, clock.now());
      const next = moves && again ? takeHead(endpoint, name, lane, clock.now() + again.leaseMs) : undefined;
      if (lane.queue.length === 0) endpoint.lanes.delete(name);
      return { current: true, died, next };
    },
    async figures(id) {
      const { dead, pending, dropped, lost, lastError, lastDeliveredAt } = endpoints.get(id) ?? newEndpoint(undefined);
      return { pending, dead: dead.size, dropped, lost, lastError, lastDeliveredAt };
    },
    async dead(id, { after, limit }) {
      if (after !== undefined && !/^\d+$/.test(after)) return undefined;
      const before = after === undefined ? Number.POSITIVE_INFINITY : Number(after);
      const burials = [...(endpoints.get(id)?.dead ?? [])].reverse().filter(([number]) => number < before);
      const page = burials.slice(0, limit);
      const more = burials.length > page.length;
      return { letters: page.map(([, letter]) => letter), next: more ? String(page.at(-1)?.[0]) : undefined };
    },
    async replay(id, eventIds) {
      const endpoint = endpoints.get(id);
      const wanted = eventIds && new Set(eventIds);
      const risen = [...(endpoint?.dead ?? [])].filter(([, { event }]) => wanted?.has(event.id) ?? true);
      for (const [number, { event }] of risen) {
        endpoint?.dead.delete(number);
        if (endpoint) enqueue(endpoint, event, clock.now());
      }
      return risen.length;
    },
  };
}

const newEndpoint = (position: FeedPosition | undefined): Endpoint => ({
  lanes: new Map(),
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
  const lane = endpoint.lanes.get(name) ?? { queue: [], due: now, failures: 0, ticket: undefined };
  lane.queue.push({ event, since: now });
  endpoint.lanes.set(name, lane);
  endpoint.pending += 1;
}

function takeDue(endpoint: Endpoint, { rooms, leaseMs }: TakeAsk, now: number): Delivery[] {
  return [...endpoint.lanes]
    .filter(([, { due }]) => due <= now)
    .sort(([, a], [, b]) => a.due - b.due)
    .slice(0, rooms)
    .flatMap(([name, lane]) => takeHead(endpoint, name, lane, now + leaseMs) ?? []);
}

function takeHead(endpoint: Endpoint, name: string, lane: Lane, until: number): Delivery | undefined {
  const head = lane.queue[0];
  if (head === undefined) return undefined;
  endpoint.count += 1;
  lane.ticket = endpoint.count;
  lane.due = until;
  const { event } = head;
  return { lane: name, eventId: event.id, body: JSON.stringify(event), failures: lane.failures, ticket: lane.ticket };
}

/** What a verdict means for the head; `moves` tells whether the lane may go on at once. */
function judge(endpoint: Endpoint, lane: Lane, head: Queued, verdict: Verdict, now: number) {
  lane.ticket = undefined;
  lane.due = now;
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
    lane.due = now + retryMs;
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

/** Lets one after the other in, however the one before ended. */
function createLine() {
  let last: Promise<unknown> = Promise.resolve();
  return <T>(turn: () => Promise<T>): Promise<T> => {
    const result = last.then(turn, turn);
    last = result;
    return result;
  };
}
