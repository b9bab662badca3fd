/**
 * The deliveries in Redis: one script for each call. The queues of an endpoint stand in the slot of the stream that fills
 * them: on a Cluster there are as many parts of them as streams, and every call goes to the part that it is about, or to
 * one after the other.
 */
import { z } from 'zod';
import type { FeedEvent } from '../../protocol/feed.ts';
import type { ScriptRunner } from '../../redis/script-runner.ts';
import {
  type BuriedPage,
  type Deliveries,
  type Delivery,
  type DeliveryFigures,
  type EndpointId,
  FORGOTTEN_AFTER_MS,
  LEAST_ATTEMPTS,
  MOST_DEAD,
  MOST_READ,
  MOST_REPLAYED,
  type Settled,
  type TakeAsk,
  type Taken,
} from '../deliveries.ts';
import type { Keys } from './keys.ts';
import type { DeliveryScripts } from './scripts.ts';

export interface RedisDeliveriesParts {
  readonly runner: ScriptRunner;
  readonly keys: Keys;
  readonly scripts: DeliveryScripts;
  readonly clock: { now(): number } | undefined;
}

export function createRedisDeliveries(from: RedisDeliveriesParts): Deliveries {
  const store = storeOf(from);
  const { parts, run } = store;
  /** Where the next call begins to look, so that no part waits for the others to be empty. */
  let first = 0;
  const partsInTurn = () => {
    first = (first + 1) % parts.length;
    return [...parts.slice(first), ...parts.slice(0, first)];
  };

  return {
    take: (endpoint, ask) => take(store, partsInTurn(), endpoint, ask),
    async settle(endpoint, { lane: place, eventId, ticket }, verdict, again): Promise<Settled> {
      const [part, lane] = placeOf(place, parts);
      const command = { lane, eventId, ticket, verdict, ...again, leastAttempts: LEAST_ATTEMPTS, mostDead: MOST_DEAD };
      const { next, ...settled } = settleReply.parse(parsed(await run('settle', endpoint, part, command)));
      return { ...settled, next: next && { ...next, lane: place } };
    },
    async figures(endpoint) {
      const told = await Promise.all(parts.map((part) => run('figures', endpoint, part, {})));
      return sumUp(told.map((reply) => figuresReply.parse(parsed(reply))));
    },
    async dead(endpoint, { after, limit }) {
      const place = placeOfLetter(after ?? '0:', parts);
      return place && pageFrom(store, endpoint, place, limit);
    },
    async replay(endpoint, eventIds) {
      const portions = eventIds === undefined ? [undefined] : chunks(eventIds, MOST_REPLAYED);
      let replayed = 0;
      for (const part of parts) for (const ids of portions) replayed += await replay(store, endpoint, part, ids);
      return replayed;
    },
  };
}

interface Store {
  readonly parts: readonly number[];
  /** Runs a script in a part of an endpoint's queues. */
  readonly run: (name: keyof DeliveryScripts, endpoint: EndpointId, part: number, command: object) => Promise<unknown>;
}

const storeOf = ({ runner, keys, scripts, clock }: RedisDeliveriesParts): Store => ({
  parts: keys.feeds.map((_, part) => part),
  async run(name, endpoint, part, command) {
    const { shared, lanes } = keys.deliveries(endpoint, part);
    const declared = name === 'take' ? [...shared, feedOf(keys, part)] : [...shared];
    const now = clock?.now();
    const text = JSON.stringify({ ...command, lanes, forgottenAfterMs: FORGOTTEN_AFTER_MS, now });
    return runner.run(scripts[name], declared, [text]);
  },
});

async function take({ run }: Store, parts: readonly number[], endpoint: EndpointId, ask: TakeAsk): Promise<Taken> {
  const most = Math.ceil(ask.most / parts.length);
  const taken: Taken[] = [];
  let rooms = ask.rooms;
  for (const part of parts) {
    const command = { ...ask, rooms, most, mostRead: MOST_READ };
    const found = inPart(part, takeReply.parse(parsed(await run('take', endpoint, part, command))));
    rooms -= found.deliveries.length;
    taken.push(found);
  }
  return {
    deliveries: taken.flatMap(({ deliveries }) => deliveries),
    more: taken.some(({ more }) => more),
    lost: sum(taken.map(({ lost }) => lost)),
  };
}

async function pageFrom(
  { parts, run }: Store,
  endpoint: EndpointId,
  place: PlaceOfLetter,
  limit: number,
): Promise<BuriedPage> {
  let [part, before] = place;
  for (;;) {
    const [left = '', ...graves] = deadReply.parse(await run('dead', endpoint, part, { before, limit }));
    const next = left === '' ? nextPart(part, parts) : `${part}:${left}`;
    // A page without letters would look like the end of them.
    if (graves.length > 0 || next === undefined) return { letters: graves.map(letterIn), next };
    [part, before] = [part + 1, undefined];
  }
}

/** @returns how many of that part. */
async function replay(
  { run }: Store,
  endpoint: EndpointId,
  part: number,
  eventIds: readonly string[] | undefined,
): Promise<number> {
  let replayed = 0;
  let upTo: number | undefined;
  do {
    const command = { eventIds, upTo, mostReplayed: MOST_REPLAYED };
    const reply = replayReply.parse(parsed(await run('replay', endpoint, part, command)));
    replayed += reply.replayed;
    upTo = reply.upTo;
  } while (upTo !== undefined);
  return replayed;
}

const parsed = (reply: unknown): unknown => JSON.parse(z.string().parse(reply));

const delivery = z.object({
  lane: z.string(),
  eventId: z.string(),
  body: z.string(),
  failures: z.int().nonnegative(),
  ticket: z.int().positive(),
}) satisfies z.ZodType<Delivery>;
const takeReply = z.object({ deliveries: z.array(delivery), more: z.boolean(), lost: z.int().nonnegative() });
const settleReply = z.object({ current: z.boolean(), died: z.boolean(), next: delivery.optional() });
const figuresReply = z.object({
  pending: z.int(),
  dead: z.int(),
  dropped: z.int(),
  lost: z.int(),
  lastError: z.object({ reason: z.string(), at: z.int() }).optional(),
  lastDeliveredAt: z.int().optional(),
});
const deadReply = z.array(z.string()).min(1);
const replayReply = z.object({ replayed: z.int(), upTo: z.int().optional() });
const grave = z.object({ attempts: z.int(), reason: z.string(), at: z.int() });

function letterIn(text: string) {
  const end = text.indexOf('\n');
  // The scripts of the feed wrote it, maybe those of another version: whoever looks at dead letters sees them all.
  const event = JSON.parse(text.slice(end + 1)) as FeedEvent;
  return { event, ...grave.parse(JSON.parse(text.slice(0, end))) };
}

function feedOf(keys: Keys, part: number): string {
  const feed = keys.feeds[part];
  if (feed === undefined) throw new RangeError('no such part');
  return feed;
}

/** A lane is known by the part of the store that it is in. */
const inPart = (part: number, taken: Taken): Taken => ({
  ...taken,
  deliveries: taken.deliveries.map((one) => ({ ...one, lane: `${part}:${one.lane}` })),
});

function placeOf(place: string, parts: readonly number[]): [part: number, lane: string] {
  const [, number, lane] = /^(\d+):(.*)$/.exec(place) ?? [];
  const part = Number(number);
  if (lane === undefined || !parts.includes(part)) throw new RangeError('no such lane');
  return [part, lane];
}

type PlaceOfLetter = readonly [part: number, before: number | undefined];

/** `<part>:<number of the burial>`; without a number it is the newest of that part. */
function placeOfLetter(place: string, parts: readonly number[]): PlaceOfLetter | undefined {
  const [, number, before] = /^(\d{1,3}):(\d{0,15})$/.exec(place) ?? [];
  if (before === undefined || !parts.includes(Number(number))) return undefined;
  return [Number(number), before === '' ? undefined : Number(before)];
}

const nextPart = (part: number, parts: readonly number[]): string | undefined =>
  parts.includes(part + 1) ? `${part + 1}:` : undefined;

const sum = (figures: readonly number[]): number => figures.reduce((total, figure) => total + figure, 0);

function sumUp(told: readonly z.infer<typeof figuresReply>[]): DeliveryFigures {
  const total = (name: 'pending' | 'dead' | 'dropped' | 'lost') => sum(told.map((figures) => figures[name]));
  const errors = told.flatMap(({ lastError }) => lastError ?? []);
  const delivered = told.flatMap(({ lastDeliveredAt }) => lastDeliveredAt ?? []);
  return {
    pending: total('pending'),
    dead: total('dead'),
    dropped: total('dropped'),
    lost: total('lost'),
    lastError: errors.toSorted((a, b) => b.at - a.at)[0],
    lastDeliveredAt: delivered.length === 0 ? undefined : Math.max(...delivered),
  };
}

function chunks<T>(items: readonly T[], size: number): T[][] {
  const count = Math.ceil(items.length / size);
  return Array.from({ length: count }, (_, index) => items.slice(index * size, (index + 1) * size));
}
