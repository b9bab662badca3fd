/**
 * Writes what the feed says into the records. Any number of nodes may do so: the records of a page and the place in the
 * feed behind it are written in one transaction, by whoever is first, so every event is recorded once and nobody leads.
 * A node that dies between reading and writing leaves nothing behind; the next begins where it had begun.
 */
import { type Database, DatabaseUnavailable } from '../database/database.ts';
import type { Feed, FeedPage } from '../engine/feed.ts';
import type { FeedEvent, RoomFeedEvent } from '../protocol/feed.ts';
import type { Log } from '../support/log.ts';
import { addLost, advance, cursorOf } from './feed-cursor.ts';
import { type PoisonEvent, writeSkippingPoison } from './skip-poison-events.ts';
import { type WriteDeps, writeEvents } from './write.ts';

export interface RecorderDeps extends WriteDeps {
  readonly database: Database;
  readonly feed: Feed;
  readonly clock: { now(): number };
  readonly log: Log;
}

export interface Recorder {
  /**
   * Records one page.
   *
   * @returns whether there is more to be recorded at once.
   * @throws what the database and the feed throw; nothing, or all of the page, has been recorded then.
   */
  record(): Promise<boolean>;
}

/** With SQLite the process stands still while a page is written: it is to take some milliseconds, no more. */
const PAGE = 200;
/** One by one they take ten statements each, all of them within the time for one answer. */
const CAREFUL_PAGE = 10;
/** A database that was restored, or has just got its tables, refuses once what it takes then. */
const MAX_REFUSALS = 3;
/** Of pages that come short because of events that this version does not know. */
const MAX_READS = 10;

export function createRecorder(parts: RecorderDeps): Recorder {
  const { database, feed, feedName, clock, log } = parts;
  let refused = { from: '', times: 0 };
  /** How many events are to be written one by one: the bad one is among the next ones. */
  let careful = 0;

  const write = (page: FeedPage, from: string, to: string): Promise<PoisonEvent[] | undefined> =>
    database.transaction(async (queries) => {
      const step = { feed: feedName, from, to, lost: page.lost, now: clock.now() };
      if (!(await advance(queries, step))) return undefined;
      const events = page.events.filter(isOfRoom);
      if (careful === 0) {
        await writeEvents(queries, parts, events);
        return [];
      }
      const unwritable = await writeSkippingPoison(queries, parts, events);
      await addLost(queries, feedName, unwritable.length);
      return unwritable;
    });

  const lookOutFor = (error: unknown, from: string): void => {
    if (error instanceof DatabaseUnavailable) return;
    refused = { from, times: refused.from === from ? refused.times + 1 : 1 };
    if (refused.times >= MAX_REFUSALS) careful = PAGE;
  };

  return {
    async record() {
      const from = await cursorOf(database, feedName, clock.now());
      const most = careful === 0 ? PAGE : CAREFUL_PAGE;
      const page = await readPage(feed, from === '' ? undefined : from, most);
      const { position, events, lost } = page;
      if (position === undefined || position === from) return false;
      const unwritable = await write(page, from, position).catch((error: unknown) => {
        lookOutFor(error, from);
        throw error;
      });
      // Somebody else is at it, and will be: two that hurry would only be in each other's way.
      if (unwritable === undefined) return false;
      careful = Math.max(0, careful - events.length);
      if (lost > 0) log.warn({ lost }, 'events were dropped before they could be recorded');
      for (const { event, error } of unwritable) {
        log.error({ err: error, event: event.id }, 'an event cannot be recorded, and is passed over');
      }
      return events.length >= most;
    },
  };
}

const isOfRoom = (event: FeedEvent): event is RoomFeedEvent => event.ref !== null;

/** What comes next, until there are enough or the feed has come to its end; a short page alone does not mean that. */
async function readPage(feed: Feed, after: string | undefined, most: number): Promise<FeedPage> {
  let page = await feed.read({ after, limit: most });
  for (let reads = 1; reads < MAX_READS && page.position !== after && page.events.length < most; reads += 1) {
    const next = await feed.read({ after: page.position, limit: most - page.events.length });
    if (next.position === page.position) break;
    page = { events: [...page.events, ...next.events], position: next.position, lost: page.lost + next.lost };
  }
  return page;
}
