/** Webhooks of a server: a dispatcher for each URL, and the operations for operators. */
import type { Feed } from '../engine/feed.ts';
import { debounce } from '../support/async/debounce.ts';
import type { Clock } from '../support/clock.ts';
import type { Log } from '../support/log.ts';
import type { Random } from '../support/random.ts';
import type { StoreHealth } from '../support/store.ts';
import { createStoreLog } from '../support/store-log.ts';
import { createStoreTime } from '../support/store-time.ts';
import { StoreWatch } from '../support/store-watch.ts';
import type { Resolve } from './addresses.ts';
import { Dispatcher } from './dispatcher.ts';
import { createEndpoint } from './endpoint.ts';
import type { WebhookQueue } from './queue/queue.ts';
import { createSender } from './sender.ts';
import type { WebhookSettings } from './settings.ts';
import { keyOf } from './signature.ts';
import type { WebhookEndpoint, Webhooks } from './webhooks.ts';

export interface WebhookDeps {
  readonly feed: Pick<Feed, 'listen'>;
  readonly queue: WebhookQueue;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly digest: (value: string) => string;
  readonly resolve?: Resolve;
}

export interface RunningWebhooks extends Webhooks {
  /** Of the queue, not of the receivers. */
  health(): StoreHealth;
  /** To be called before the store is closed: what is not sent is left to other nodes through it. */
  stop(): Promise<void>;
}

/** Events of this node are sent soon, and those that happen together are claimed together. */
const DEBOUNCE_MS = 20;
/** For retries, and for events of nodes that have died since. */
const POLL_MS = 1_000;

/** Resolves when the endpoints are known to the queue: every later event is queued for them. */
export async function startWebhooks(settings: WebhookSettings, deps: WebhookDeps): Promise<RunningWebhooks> {
  const { feed, clock, log } = deps;
  const watch = new StoreWatch({ clock, onChange: createStoreLog(log, 'the queue of webhooks') });
  const queue = watchedQueue(deps.queue, watch);
  const dispatchers = settings.urls.map((url) => createDispatcher(url, settings, { ...deps, queue }));
  await Promise.all(dispatchers.map((dispatcher) => dispatcher.register()));

  const wakeAll = () => {
    for (const dispatcher of dispatchers) dispatcher.wake();
  };
  const wakeSoon = debounce(clock, DEBOUNCE_MS, wakeAll);
  const stops = [feed.listen(wakeSoon.request), clock.every(POLL_MS, wakeAll), wakeSoon.cancel];
  return {
    ...createOperations(deps.queue, dispatchers),
    health: () => watch.health(),
    async stop() {
      for (const stop of stops) stop();
      await Promise.all(dispatchers.map((dispatcher) => dispatcher.stop()));
    },
  };
}

/** What dispatchers ask of it is asked again and again by themselves: no retries are needed to notice that it works again. */
function watchedQueue(queue: WebhookQueue, watch: StoreWatch): WebhookQueue {
  return {
    ...queue,
    claim: (endpoint, request) => watch.run(endpoint, () => queue.claim(endpoint, request)),
    complete: (endpoint, ...rest) => watch.run(endpoint, () => queue.complete(endpoint, ...rest)),
  };
}

function createDispatcher(url: string, settings: WebhookSettings, deps: WebhookDeps): Dispatcher {
  const { secrets, types, ...limits } = settings;
  const endpoint = createEndpoint(url);
  const keys = secrets.flatMap((secret) => keyOf(secret) ?? []);
  if (keys.length === 0) throw new Error('webhooks need a secret');
  const time = createStoreTime(deps.clock);
  const sender = createSender({ ...limits, ...deps, endpoint, keys, time });
  return new Dispatcher({ ...limits, ...deps, endpoint, sender, time, types: types.length === 0 ? undefined : types });
}

/** Only configured endpoints can be named: the store may still hold events of others, which are not to be shown. */
function createOperations(queue: WebhookQueue, dispatchers: readonly Dispatcher[]): Webhooks {
  const find = (id: string) => dispatchers.find(({ endpoint }) => endpoint.id === id);
  return {
    endpoints: () =>
      Promise.all(
        dispatchers.map(async ({ endpoint: { id, origin } }): Promise<WebhookEndpoint> => {
          const { lastError, lastDeliveredAt, ...figures } = await queue.stats(id);
          return {
            id,
            origin,
            ...figures,
            ...(lastError !== undefined && { lastError }),
            ...(lastDeliveredAt !== undefined && { lastDeliveredAt }),
          };
        }),
      ),
    async deadLetters(id, { cursor, limit }) {
      if (find(id) === undefined) return undefined;
      const page = await queue.deadLetters(id, { after: cursor, limit });
      return page && { letters: page.letters, cursor: page.next ?? null };
    },
    async replay(id, { eventIds } = {}) {
      const dispatcher = find(id);
      if (dispatcher === undefined) return undefined;
      const replayed = await queue.replay(id, eventIds);
      dispatcher.wake();
      return replayed;
    },
  };
}
