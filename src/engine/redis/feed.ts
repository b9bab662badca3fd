/** The feed in Redis: the streams that the scripts append to, and a channel with the same events. */
import { z } from 'zod';
import { type FeedEvent, feedEvent } from '../../protocol/feed.ts';
import type { RedisClient } from '../../redis/client.ts';
import type { Runner } from '../../redis/script-runner.ts';
import type { Log } from '../../support/log.ts';
import type { EngineSettings } from '../engine.ts';
import { dedupeKey, type Feed, type FeedPage, type FeedPosition } from '../feed.ts';
import { feedTarget } from './commands.ts';
import type { Keys } from './keys.ts';
import type { FeedScripts } from './scripts.ts';

export interface RedisFeedDeps {
  readonly runner: Runner;
  readonly sub: RedisClient;
  readonly keys: Keys;
  readonly scripts: FeedScripts;
  readonly settings: EngineSettings;
  readonly log: Log;
  readonly clock: { now(): number } | undefined;
}

/** Between the positions in the streams, of which a position of the feed is made. */
const SEPARATOR = ',';

const page = z.tuple([z.string(), z.string(), z.string()]).rest(z.string());

export function createRedisFeed(deps: RedisFeedDeps): Feed {
  const { runner, keys, scripts, settings, clock } = deps;
  const feed = feedTarget(settings, keys);
  const readEvent = createEventReader(deps.log);

  const readStream = async (stream: string, after: string | undefined, limit: number): Promise<FeedPage> => {
    const command = JSON.stringify({ ...parsePosition(after), limit });
    const [lost, id, ordinal, ...texts] = page.parse(await runner.run(scripts.read, [stream], [command]));
    const position = id === '' ? after : `${id}/${ordinal}`;
    return { events: texts.flatMap(readEvent), position, lost: Number(lost) };
  };

  return {
    name: `redis ${keys.channelPrefix}`,
    async read({ after, limit }) {
      if (feed === undefined) return { events: [], position: after, lost: 0 };
      const positions = after?.split(SEPARATOR) ?? [];
      const pages: FeedPage[] = [];
      let left = limit;
      for (const [index, stream] of keys.feeds.entries()) {
        const start = positions[index];
        const read = left === 0 ? { events: [], position: start, lost: 0 } : await readStream(stream, start, left);
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
      const { type, ...fields } = announcement;
      const key = dedupeKey(announcement);
      const command = { key, type, dedupeMs, feed, ...(clock && { now: clock.now() }) };
      // The script writes the fields that all events have, and these behind them.
      const rest = `,${JSON.stringify(fields).slice(1)}`;
      await runner.run(scripts.announce, [keys.feeds[0], keys.dedupe(key)], [JSON.stringify(command), rest]);
    },
    listen: createListen(deps, readEvent),
  };
}

/** A position in a stream is the id of an entry and its ordinal. A malformed one means the beginning. */
function parsePosition(position: FeedPosition | undefined): { id: string; ordinal: number } | undefined {
  const [, id, ordinal] = /^(\d+-\d+)\/(\d+)$/.exec(position ?? '') ?? [];
  return id === undefined ? undefined : { id, ordinal: Number(ordinal) };
}

/** One subscription for all listeners. The channel has the events of all nodes: those of others are dropped unparsed. */
function createListen({ sub, keys, settings, log }: RedisFeedDeps, read: ReadEvent) {
  const mark = `"serverId":"${settings.nodeId}"`;
  const listeners = new Set<(event: FeedEvent) => void>();
  const receive = (text: string): void => {
    if (!text.includes(mark)) return;
    for (const event of read(text)) {
      if (event.serverId === settings.nodeId) for (const listener of listeners) listener(event);
    }
  };
  const failed = (error: unknown): void => log.warn({ err: error }, 'could not subscribe to the channel of the feed');
  return (listener: (event: FeedEvent) => void) => {
    // Wrapped, so that the same function can be added twice.
    const added = (event: FeedEvent): void => listener(event);
    listeners.add(added);
    if (listeners.size === 1) sub.subscribe(keys.feedChannel, receive).catch(failed);
    return () => {
      if (!listeners.delete(added) || listeners.size > 0) return;
      sub.unsubscribe(keys.feedChannel, receive).catch(failed);
    };
  };
}

/** An empty list for text that is no event. */
type ReadEvent = (text: string) => FeedEvent[];

/**
 * Skips entries that are no event of this version. Every client of Redis can append them, a node of a newer version too, and
 * a reader that stopped at one would never get past it. Logged once for each type.
 */
function createEventReader(log: Log): ReadEvent {
  const logged = new Set<string>();
  return (text) => {
    const event = parse(text);
    const read = feedEvent.safeParse(event);
    if (read.success) return [read.data];
    const type = String(Reflect.get(Object(event), 'type')).slice(0, MAX_TYPE_LENGTH);
    if (logged.size < MAX_LOGGED_TYPES && !logged.has(type)) {
      logged.add(type);
      log.warn({ type }, 'skipped events of the feed that this version does not know');
    }
    return [];
  };
}

const MAX_TYPE_LENGTH = 40;
const MAX_LOGGED_TYPES = 100;

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
