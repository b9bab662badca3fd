/** The feed in Redis: the streams that the scripts of rooms write to, and a channel that says the same. */
import { z } from 'zod';
import { type FeedEvent, feedEvent } from '../../protocol/feed.ts';
import type { RedisClient } from '../../redis/connect.ts';
import type { ScriptRunner } from '../../redis/script-runner.ts';
import type { Log } from '../../support/log.ts';
import type { EngineSettings } from '../engine.ts';
import { dedupeKey, type Feed, type FeedPage, type FeedPosition } from '../feed.ts';
import { feedTarget } from './commands.ts';
import type { Keys } from './keys.ts';
import type { FeedScripts } from './scripts.ts';

export interface RedisFeedParts {
  readonly runner: ScriptRunner;
  readonly sub: RedisClient;
  readonly keys: Keys;
  readonly scripts: FeedScripts;
  readonly settings: EngineSettings;
  readonly log: Log;
  readonly clock: { now(): number } | undefined;
}

/** Between the places in each of the streams. */
const SEPARATOR = ',';

const page = z.tuple([z.string(), z.string(), z.string()]).rest(z.string());

export function createRedisFeed(parts: RedisFeedParts): Feed {
  const { runner, keys, scripts, settings, clock } = parts;
  const feed = feedTarget(settings, keys);
  const readEvent = createReading(parts.log);

  const readStream = async (stream: string, after: string | undefined, limit: number): Promise<FeedPage> => {
    const command = JSON.stringify({ ...placeOf(after), limit });
    const [lost, id, ordinal, ...texts] = page.parse(await runner.run(scripts.read, [stream], [command]));
    const position = id === '' ? after : `${id}/${ordinal}`;
    return { events: texts.flatMap(readEvent), position, lost: Number(lost) };
  };

  return {
    async read({ after, limit }) {
      if (feed === undefined) return { events: [], position: after, lost: 0 };
      const places = after?.split(SEPARATOR) ?? [];
      const pages: FeedPage[] = [];
      let left = limit;
      for (const [index, stream] of keys.feeds.entries()) {
        const place = places[index];
        const read = left === 0 ? { events: [], position: place, lost: 0 } : await readStream(stream, place, left);
        left -= read.events.length;
        pages.push(read);
      }
      const read = pages.some(({ position }) => position !== undefined && position !== '');
      return {
        events: pages.flatMap(({ events }) => events),
        position: read ? pages.map(({ position = '' }) => position).join(SEPARATOR) : after,
        lost: pages.reduce((sum, { lost }) => sum + lost, 0),
      };
    },
    async announce(announcement, dedupeMs) {
      if (feed === undefined) return;
      const { type, ...particulars } = announcement;
      const key = dedupeKey(announcement);
      const command = { key, type, dedupeMs, feed, ...(clock && { now: clock.now() }) };
      // The script writes the common part, and this goes on from there.
      const rest = `,${JSON.stringify(particulars).slice(1)}`;
      await runner.run(scripts.announce, [keys.feeds[0], keys.dedupe(key)], [JSON.stringify(command), rest]);
    },
    listen: createListening(parts, readEvent),
  };
}

/** A position is the id of an entry and its ordinal. What is none begins anew. */
function placeOf(position: FeedPosition | undefined): { id: string; ordinal: number } | undefined {
  const [, id, ordinal] = /^(\d+-\d+)\/(\d+)$/.exec(position ?? '') ?? [];
  return id === undefined ? undefined : { id, ordinal: Number(ordinal) };
}

/** One subscription for all who listen. The channel says what every node does; most of it is put aside unread. */
function createListening({ sub, keys, settings, log }: RedisFeedParts, read: ReadEvent) {
  const mark = `"serverId":"${settings.nodeId}"`;
  const listeners = new Set<(event: FeedEvent) => void>();
  const receive = (text: string): void => {
    if (!text.includes(mark)) return;
    for (const event of read(text)) {
      if (event.serverId === settings.nodeId) for (const hear of listeners) hear(event);
    }
  };
  const failed = (error: unknown): void => log.warn({ err: error }, 'the channel of the feed is not heard');
  return (hear: (event: FeedEvent) => void) => {
    // The same function may listen twice.
    const listener = (event: FeedEvent): void => hear(event);
    listeners.add(listener);
    if (listeners.size === 1) sub.subscribe(keys.feedChannel, receive).catch(failed);
    return () => {
      if (!listeners.delete(listener) || listeners.size > 0) return;
      sub.unsubscribe(keys.feedChannel, receive).catch(failed);
    };
  };
}

/** None, for what is no event. */
type ReadEvent = (text: string) => FeedEvent[];

/**
 * What is no event is passed over: anybody who can write to Redis may have said it, a newer node too, and who stopped at it
 * would never get beyond. It is said once for each kind.
 */
function createReading(log: Log): ReadEvent {
  const said = new Set<string>();
  return (text) => {
    const event = parse(text);
    const read = feedEvent.safeParse(event);
    if (read.success) return [read.data];
    const type = String(Reflect.get(Object(event), 'type')).slice(0, LONGEST_TYPE);
    if (said.size < MOST_SAID && !said.has(type)) {
      said.add(type);
      log.warn({ type }, 'events of the feed that this version does not know are passed over');
    }
    return [];
  };
}

const LONGEST_TYPE = 40;
const MOST_SAID = 100;

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
