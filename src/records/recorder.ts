/**
 * Records the feed. Several nodes may do so at the same time, without a leader: a page of events and the position after it
 * are written in one transaction, and only the first node to advance the cursor commits, so every event is recorded once.
 * A node that dies in between leaves nothing behind, and the next one starts at the same position.
 */
import { type Database, DatabaseUnavailable } from '../database/database.ts';
import type { Feed, FeedPage } from '../engine/feed.ts';
import type { FeedEvent, RoomFeedEvent } from '../protocol/feed.ts';
import type { Log } from '../support/log.ts';
import { addLost, advance, cursorOf } from './feed-cursor.ts';
import { shiftOpenCalls } from './shift-open-calls.ts';
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
   * @returns whether more is left to record now.
   * @throws errors of the database and the feed; then either nothing of the page was recorded, or all of it.
   */
  record(): Promise<boolean>;
}

export const createRecorder = (deps: RecorderDeps): Recorder => new FeedRecorder(deps);

/** Events per page: with SQLite the process is blocked while a page is written, for some milliseconds. */
const PAGE = 200;
/** Events per page when each is written by itself: about ten statements each, within the time limit of a transaction. */
const CAREFUL_PAGE = 10;
/** A page is refused once or twice without a poison event, for instance while a restored database lacks its tables. */
const MAX_REFUSALS = 3;
/** Limit of reads per page, for pages that are short because of unknown event types. */
const MAX_READS = 10;

class FeedRecorder implements Recorder {
  readonly #deps: RecorderDeps;
  #refused = { from: '', times: 0 };
  /** Number of events still to be written one by one, because a poison event is among them. */
  #careful = 0;

  constructor(deps: RecorderDeps) {
    this.#deps = deps;
  }

  async record(): Promise<boolean> {
    const { database, feed, feedName, clock } = this.#deps;
    const from = await cursorOf(database, feedName, clock.now());
    const limit = this.#careful === 0 ? PAGE : CAREFUL_PAGE;
    const page = await readPage(feed, from === '' ? undefined : from, limit);
    const { position, events } = page;
    if (position === undefined || position === from) return false;
    const skipped = await this.#write(page, from, position).catch((error: unknown) => {
      this.#countRefusal(error, from);
      throw error;
    });
    // Another node is recording and will go on: two in a hurry would only slow each other down.
    if (skipped === undefined) return false;
    this.#careful = Math.max(0, this.#careful - events.length);
    this.#logLosses(page.lost, skipped);
    return events.length >= limit || page.beforeStep;
  }

  /** @returns the skipped events; undefined when another node has advanced the cursor first. */
  #write(page: FeedPage, from: string, to: string): Promise<PoisonEvent[] | undefined> {
    const { database, feedName, clock } = this.#deps;
    return database.transaction(async (queries) => {
      const step = { feed: feedName, from, to, lost: page.lost, now: clock.now() };
      if (!(await advance(queries, step))) return undefined;
      if (page.shiftedMs !== undefined) await shiftOpenCalls(queries, feedName, page.shiftedMs);
      const events = page.events.filter(isOfRoom);
      if (this.#careful === 0) {
        await writeEvents(queries, this.#deps, events);
        return [];
      }
      const skipped = await writeSkippingPoison(queries, this.#deps, events);
      await addLost(queries, feedName, skipped.length);
      return skipped;
    });
  }

  #countRefusal(error: unknown, from: string): void {
    if (error instanceof DatabaseUnavailable) return;
    const times = this.#refused.from === from ? this.#refused.times + 1 : 1;
    this.#refused = { from, times };
    if (times >= MAX_REFUSALS) this.#careful = PAGE;
  }

  #logLosses(lost: number, skipped: readonly PoisonEvent[]): void {
    const { log } = this.#deps;
    if (lost > 0) log.warn({ lost }, 'events were dropped before they could be recorded');
    for (const { event, error } of skipped) {
      log.error({ err: error, event: event.id }, 'an event cannot be recorded, and is skipped');
    }
  }
}

const isOfRoom = (event: FeedEvent): event is RoomFeedEvent => event.ref !== null;

/** Reads until the page is full or the feed ends; a short page alone does not mean its end. */
async function readPage(
  feed: Feed,
  after: string | undefined,
  limit: number,
): Promise<FeedPage & { readonly beforeStep: boolean }> {
  let page = await feed.read({ after, limit });
  for (let reads = 1; reads < MAX_READS && page.position !== after && page.events.length < limit; reads += 1) {
    const next = await feed.read({ after: page.position, limit: limit - page.events.length });
    // A page that begins with a step of the clock is written by itself, after the events before it.
    if (next.shiftedMs !== undefined) return { ...page, beforeStep: true };
    if (next.position === page.position) break;
    page = { ...page, events: [...page.events, ...next.events], position: next.position, lost: page.lost + next.lost };
  }
  return { ...page, beforeStep: false };
}
