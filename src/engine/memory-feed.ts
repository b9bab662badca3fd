/** The feed of a single process: the newest events in a list. */
import type { Announcement, FeedEvent } from '../protocol/feed.ts';
import type { NodeId } from '../protocol/ids.ts';
import type { Clock } from '../support/clock.ts';
import { dedupeKey, type Feed } from './feed.ts';

export interface MemoryFeed extends Feed {
  append(events: readonly FeedEvent[]): void;
  /** The clock was set by `ms`: the timestamps of later events are by another time than those of earlier ones. */
  shift(ms: number): void;
}

/** Stands in the list between the events before and after a step of the clock. */
interface ClockStep {
  readonly shiftedMs: number;
}

/** How far the list grows beyond the kept events before the oldest are dropped: slicing at every event would cost more. */
const SLACK = 1.1;

export function createMemoryFeed(nodeId: NodeId, kept: number, clock: Clock): MemoryFeed {
  // Positions of an earlier process of this node mean nothing to this one.
  const epoch = `${nodeId}:${clock.now()}`;
  const duplicateUntil = new Map<string, number>();
  const listeners = new Set<(event: FeedEvent) => void>();
  let entries: (FeedEvent | ClockStep)[] = [];
  /** The number of dropped entries. */
  let dropped = 0;

  const push = (added: readonly (FeedEvent | ClockStep)[]): void => {
    entries.push(...added);
    if (entries.length > kept * SLACK) {
      dropped += entries.length - kept;
      entries = entries.slice(-kept);
    }
  };
  const append = (added: readonly FeedEvent[]): void => {
    if (kept === 0) return;
    push(added);
    // In the next turn: the command must not wait for the listeners, nor fail with them.
    for (const listener of listeners) clock.nextTurn(() => added.forEach(listener));
  };

  return {
    name: 'memory',
    append,
    shift(ms) {
      if (kept > 0) push([{ shiftedMs: ms }]);
    },
    async read({ after, limit }) {
      const from = ordinalIn(epoch, after) ?? 0;
      const first = Math.max(from, dropped);
      const shiftedMs = stepAt(entries[first - dropped]);
      const begin = first - dropped + (shiftedMs === undefined ? 0 : 1);
      const page = eventsUntilStep(entries.slice(begin, begin + limit));
      const position = positionOf(epoch, dropped + begin + page.length);
      return { events: page, position, lost: first - from, ...(shiftedMs !== undefined && { shiftedMs }) };
    },
    async announce(announcement, dedupeMs) {
      const key = dedupeKey(announcement);
      const now = clock.monotonic();
      if ((duplicateUntil.get(key) ?? now) > now) return;
      duplicateUntil.set(key, now + dedupeMs);
      append([announced(announcement, nodeId, clock.now())]);
    },
    listen(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}

const stepAt = (entry: FeedEvent | ClockStep | undefined): number | undefined =>
  entry !== undefined && 'shiftedMs' in entry ? entry.shiftedMs : undefined;

function eventsUntilStep(entries: readonly (FeedEvent | ClockStep)[]): FeedEvent[] {
  const events: FeedEvent[] = [];
  for (const entry of entries) {
    if ('shiftedMs' in entry) break;
    events.push(entry);
  }
  return events;
}

const positionOf = (epoch: string, count: number): string => `${epoch}/${count}`;

function ordinalIn(epoch: string, position: string | undefined): number | undefined {
  return position?.startsWith(`${epoch}/`) ? Number(position.slice(epoch.length + 1)) : undefined;
}

const announced = (announcement: Announcement, serverId: NodeId, timestamp: number): FeedEvent => {
  const id = `${dedupeKey(announcement)}:${timestamp}`;
  return { ...announcement, id, code: null, ref: null, rev: null, userId: null, serverId, timestamp };
};
