/** The feed of a single process: the newest events in a list. */
import type { Announcement, FeedEvent } from '../protocol/feed.ts';
import type { NodeId } from '../protocol/ids.ts';
import type { Clock } from '../support/clock.ts';
import { dedupeKey, type Feed } from './feed.ts';

export interface MemoryFeed extends Feed {
  append(events: readonly FeedEvent[]): void;
}

/** How far the list grows beyond the kept events before the oldest are dropped: slicing at every event would cost more. */
const SLACK = 1.1;

export function createMemoryFeed(nodeId: NodeId, kept: number, clock: Clock): MemoryFeed {
  // Positions of an earlier process of this node mean nothing to this one.
  const epoch = `${nodeId}:${clock.now()}`;
  const duplicateUntil = new Map<string, number>();
  const listeners = new Set<(event: FeedEvent) => void>();
  let events: FeedEvent[] = [];
  /** The number of dropped events. */
  let dropped = 0;

  const append = (added: readonly FeedEvent[]): void => {
    if (kept === 0) return;
    events.push(...added);
    if (events.length > kept * SLACK) {
      dropped += events.length - kept;
      events = events.slice(-kept);
    }
    // In the next turn: the command must not wait for the listeners, nor fail with them.
    for (const listener of listeners) clock.nextTurn(() => added.forEach(listener));
  };

  return {
    name: 'memory',
    append,
    async read({ after, limit }) {
      const from = ordinalIn(epoch, after) ?? 0;
      const first = Math.max(from, dropped);
      const page = events.slice(first - dropped, first - dropped + limit);
      return { events: page, position: positionOf(epoch, first + page.length), lost: first - from };
    },
    async announce(announcement, dedupeMs) {
      const now = clock.now();
      const key = dedupeKey(announcement);
      if ((duplicateUntil.get(key) ?? 0) > now) return;
      duplicateUntil.set(key, now + dedupeMs);
      append([announced(announcement, nodeId, now)]);
    },
    listen(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}

const positionOf = (epoch: string, count: number): string => `${epoch}/${count}`;

function ordinalIn(epoch: string, position: string | undefined): number | undefined {
  return position?.startsWith(`${epoch}/`) ? Number(position.slice(epoch.length + 1)) : undefined;
}

const announced = (announcement: Announcement, serverId: NodeId, timestamp: number): FeedEvent => {
  const id = `${dedupeKey(announcement)}:${timestamp}`;
  return { ...announcement, id, code: null, ref: null, rev: null, userId: null, serverId, timestamp };
};
