/** Webhooks over a feed and a store in memory, which tell when something is settled. */
import type { Deliveries } from '../../src/engine/deliveries.ts';
import { createMemoryDeliveries } from '../../src/engine/memory-deliveries.ts';
import { createMemoryFeed, type MemoryFeed } from '../../src/engine/memory-feed.ts';
import type { FeedEvent } from '../../src/protocol/feed.ts';
import type { NodeId } from '../../src/protocol/ids.ts';
import type { Clock } from '../../src/support/clock.ts';
import { createDigest, type Log, silentLog } from '../../src/support/log.ts';
import type { Random } from '../../src/support/random.ts';
import { createEndpoint } from '../../src/webhooks/endpoint.ts';
import type { WebhookSettings } from '../../src/webhooks/settings.ts';
import { type RunningWebhooks, startWebhooks } from '../../src/webhooks/start.ts';
import type { WebhookEndpoint } from '../../src/webhooks/webhooks.ts';
import { event } from '../engine/deliveries-stage.ts';

export const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';

export interface WebhookStage extends AsyncDisposable {
  readonly webhooks: RunningWebhooks;
  readonly feed: MemoryFeed;
  readonly deliveries: Deliveries;
  /** The id of the first endpoint. */
  readonly id: string;
  tell(...events: readonly FeedEvent[]): void;
  endpoint(): Promise<WebhookEndpoint>;
  /** Resolves when so many verdicts were told to the store. */
  settled(count: number): Promise<void>;
  /** Another node over the same store. */
  another(settings?: Partial<WebhookSettings>): Promise<RunningWebhooks>;
}

interface StageParts {
  readonly url: string;
  readonly clock: Clock;
  readonly settings?: Partial<WebhookSettings>;
  readonly log?: Log;
}

/** No chance: back-off is exact. */
const even: Random = { fraction: () => 0, integer: () => 0, text: () => '' };

export async function startStage({ url, clock, settings, log = silentLog }: StageParts): Promise<WebhookStage> {
  const feed = createMemoryFeed('node-a' as NodeId, 100_000, clock);
  const { deliveries, settled } = watched(createMemoryDeliveries(feed, clock));
  const another = (other: Partial<WebhookSettings> = {}) =>
    startWebhooks(
      { urls: [url], secrets: [SECRET], types: [], ...LIMITS, ...settings, ...other },
      { engine: { feed, deliveries }, clock, random: even, log, digest: createDigest('key') },
    );
  const webhooks = await another();
  return {
    webhooks,
    feed,
    deliveries,
    id: createEndpoint(url).id,
    tell: (...events) => feed.append(events),
    async endpoint() {
      const [first] = await webhooks.endpoints();
      if (first === undefined) throw new Error('there is no endpoint');
      return first;
    },
    settled,
    another,
    [Symbol.asyncDispose]: () => webhooks.stop(),
  };
}

const LIMITS = { allowPrivate: true, timeoutMs: 10_000, giveUpMs: 86_400_000 };

function watched(deliveries: Deliveries) {
  let count = 0;
  const waiting = new Set<() => void>();
  return {
    deliveries: {
      ...deliveries,
      async settle(...told: Parameters<Deliveries['settle']>) {
        const settled = await deliveries.settle(...told);
        count += 1;
        for (const look of waiting) look();
        return settled;
      },
    },
    settled: (wanted: number) =>
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
