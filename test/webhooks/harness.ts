/** Webhooks over a feed and a queue in memory. Tests append to the feed, and wait for completed deliveries. */

import { createMemoryFeed, type MemoryFeed } from '../../src/engine/memory-feed.ts';
import type { FeedEvent } from '../../src/protocol/feed.ts';
import type { NodeId } from '../../src/protocol/ids.ts';
import type { Clock } from '../../src/support/clock.ts';
import { createDigest, type Log, silentLog } from '../../src/support/log.ts';
import type { Random } from '../../src/support/random.ts';
import { createEndpoint } from '../../src/webhooks/endpoint.ts';
import { createMemoryQueue } from '../../src/webhooks/queue/memory.ts';
import type { WebhookQueue } from '../../src/webhooks/queue/queue.ts';
import type { WebhookSettings } from '../../src/webhooks/settings.ts';
import { type RunningWebhooks, startWebhooks } from '../../src/webhooks/start.ts';
import type { WebhookEndpoint } from '../../src/webhooks/webhooks.ts';
import { event } from './queue/harness.ts';

export const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';

export interface WebhookHarness extends AsyncDisposable {
  readonly webhooks: RunningWebhooks;
  readonly feed: MemoryFeed;
  readonly queue: WebhookQueue;
  /** The id of the first endpoint. */
  readonly id: string;
  /** Appends to the feed. */
  append(...events: readonly FeedEvent[]): void;
  endpoint(): Promise<WebhookEndpoint>;
  /** Resolves when so many deliveries were completed. */
  completed(count: number): Promise<void>;
  /** Another node over the same queue. */
  startNode(settings?: Partial<WebhookSettings>): Promise<RunningWebhooks>;
}

interface HarnessOptions {
  readonly url: string;
  readonly clock: Clock;
  readonly settings?: Partial<WebhookSettings>;
  readonly log?: Log;
}

/** Back-off without jitter. */
const unjittered: Random = { fraction: () => 0, integer: () => 0, text: () => '' };

export async function startWebhookHarness({
  url,
  clock,
  settings,
  log = silentLog,
}: HarnessOptions): Promise<WebhookHarness> {
  const feed = createMemoryFeed('node-a' as NodeId, 100_000, clock);
  const { queue, completed } = watched(createMemoryQueue(feed, clock));
  const startNode = (other: Partial<WebhookSettings> = {}) =>
    startWebhooks(
      { urls: [url], secrets: [SECRET], types: [], ...LIMITS, ...settings, ...other },
      { feed, queue, clock, random: unjittered, log, digest: createDigest('key') },
    );
  const webhooks = await startNode();
  return {
    webhooks,
    feed,
    queue,
    id: createEndpoint(url).id,
    append: (...events) => feed.append(events),
    async endpoint() {
      const [first] = await webhooks.endpoints();
      if (first === undefined) throw new Error('there is no endpoint');
      return first;
    },
    completed,
    startNode,
    [Symbol.asyncDispose]: () => webhooks.stop(),
  };
}

const LIMITS = { allowPrivate: true, timeoutMs: 10_000, giveUpMs: 86_400_000 };

/** Counts completed deliveries. */
function watched(queue: WebhookQueue) {
  let count = 0;
  const waiting = new Set<() => void>();
  return {
    queue: {
      ...queue,
      async complete(...delivery: Parameters<WebhookQueue['complete']>) {
        const completed = await queue.complete(...delivery);
        count += 1;
        for (const look of waiting) look();
        return completed;
      },
    },
    completed: (wanted: number) =>
      new Promise<void>((resolve) => {
        const look = () => {
          if (count < wanted) return;
          waiting.delete(look);
          resolve();
        };
        waiting.add(look);
        look();
      }),
  };
}

/** The events that bring a room to the revisions from `first` to `last`. */
export const events = (room: number, first: number, last: number): FeedEvent[] =>
  Array.from({ length: last - first + 1 }, (_, index) => event(room, first + index));
