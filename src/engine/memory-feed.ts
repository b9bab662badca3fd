/** The feed of a single process: the newest events in a list. */
import type { Announcement, FeedEvent } from '../protocol/feed.ts';
import type { NodeId } from '../protocol/ids.ts';
import type { Clock } from '../support/clock.ts';
import { dedupeKey, type Feed } from './feed.ts';

export interface MemoryFeed extends Feed {
  append(events: readonly FeedEvent[]): void;
}

/** How far the list grows beyond what is kept before its oldest part is let go of: moving it costs more than holding it. */
const SLACK = 1.1;

export function createMemoryFeed(nodeId: NodeId, kept: number, clock: Clock): MemoryFeed {
  // Another process of the same node counts anew.
  const life = `${nodeId}:${clock.now()}`;
  const duplicateUntil = new Map<string, number>();
  const listeners = new Set<(event: FeedEvent) => void>();
  let events: FeedEvent[] = [];
  /** Of the events that are let go of. */
  let dropped = 0;

  const append = (added: readonly FeedEvent[]): void => {
    if (kept === 0) return;
    events.push(...added);
    if (events.length > kept * SLACK) {
      dropped += events.length - kept;
      events = events.slice(-kept);
    }
    // Later: whatever a listener does, and however long it takes, is not the business of who made the event.
    for (const hear of listeners) setImmediate(() => added.forEach(hear));
  };

  return {
    append,
    async read({ after, limit }) {
      const from = placeIn(life, after) ?? 0;
      const first = Math.max(from, dropped);
      const page = events.slice(first - dropped, first - dropped + limit);
      return { events: page, position: positionOf(life, first + page.length), lost: first - from };
    },
    async announce(announcement, dedupeMs) {
      const now = clock.now();
      const key = dedupeKey(announcement);
      if ((duplicateUntil.get(key) ?? 0) > now) return;
      duplicateUntil.set(key, now + dedupeMs);
      append([announced(announcement, nodeId, now)]);
    },
    listen(hear) {
      listeners.add(hear);
      return () => void listeners.delete(hear);
    },
  };
}

const positionOf = (life: string, count: number): string => `${life}/${count}`;

function placeIn(life: string, position: string | undefined): number | undefined {
  return position?.startsWith(`${life}/`) ? Number(position.slice(life.length + 1)) : undefined;
}

const announced = (announcement: Announcement, serverId: NodeId, timestamp: number): FeedEvent => {
  const id = `${dedupeKey(announcement)}:${timestamp}`;
  return { ...announcement, id, code: null, ref: null, rev: null, userId: null, serverId, timestamp };
};
