/** Webhooks of a server: an endpoint for each URL, and what an operator sees of them. */
import type { Engine } from '../engine/engine.ts';
import { debounce } from '../support/async/debounce.ts';
import type { Clock } from '../support/clock.ts';
import type { Log } from '../support/log.ts';
import type { Random } from '../support/random.ts';
import type { Resolve } from './addresses.ts';
import { createDispatcher, type Dispatcher } from './dispatcher.ts';
import { createEndpoint } from './endpoint.ts';
import { createSender } from './sender.ts';
import type { WebhookSettings } from './settings.ts';
import { keyOf } from './signature.ts';
import type { WebhookEndpoint, Webhooks } from './webhooks.ts';

export interface WebhookParts {
  readonly engine: Pick<Engine, 'feed' | 'deliveries'>;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly digest: (value: string) => string;
  readonly resolve?: Resolve;
}

export interface RunningWebhooks extends Webhooks {
  /** To be called while the store can still be told. */
  stop(): Promise<void>;
}

/** Events of this node are sent at once, but those that happen together are looked for together. */
const EAGER_MS = 20;
/** For those of other nodes that have died meanwhile, and for what is tried again. */
const POLL_MS = 1_000;

/** Resolves when the endpoints are known to the store: every event from then on is theirs. */
export async function startWebhooks(settings: WebhookSettings, parts: WebhookParts): Promise<RunningWebhooks> {
  const { engine, clock } = parts;
  const dispatchers = settings.urls.map((url) => dispatcherFor(url, settings, parts));
  await Promise.all(dispatchers.map((dispatcher) => dispatcher.begin()));

  const wakeAll = () => {
    for (const dispatcher of dispatchers) dispatcher.wake();
  };
  const eager = debounce(clock, EAGER_MS, wakeAll);
  const ends = [engine.feed.listen(eager.request), clock.every(POLL_MS, wakeAll), eager.cancel];
  return {
    ...createOperations(engine, dispatchers),
    async stop() {
      for (const end of ends) end();
      await Promise.all(dispatchers.map((dispatcher) => dispatcher.stop()));
    },
  };
}

function dispatcherFor(url: string, settings: WebhookSettings, parts: WebhookParts): Dispatcher {
  const { secrets, types, ...limits } = settings;
  const endpoint = createEndpoint(url);
  const keys = secrets.flatMap((secret) => keyOf(secret) ?? []);
  if (keys.length === 0) throw new Error('webhooks need a secret');
  const sender = createSender({ ...limits, ...parts, endpoint, keys });
  const { deliveries } = parts.engine;
  return createDispatcher({
    ...limits,
    ...parts,
    endpoint,
    deliveries,
    sender,
    types: types.length === 0 ? undefined : types,
  });
}

/** Only endpoints that are configured can be named: of others, the store may still hold what nobody is to see. */
function createOperations({ deliveries }: WebhookParts['engine'], dispatchers: readonly Dispatcher[]): Webhooks {
  const find = (id: string) => dispatchers.find(({ endpoint }) => endpoint.id === id);
  return {
    endpoints: () =>
      Promise.all(
        dispatchers.map(async ({ endpoint: { id, origin } }): Promise<WebhookEndpoint> => {
          const { lastError, lastDeliveredAt, ...figures } = await deliveries.figures(id);
          return {
            id,
            origin,
            ...figures,
            ...(lastError !== undefined && { lastError }),
            ...(lastDeliveredAt !== undefined && { lastDeliveredAt }),
          };
        }),
      ),
    async dead(id, { cursor, limit }) {
      if (find(id) === undefined) return undefined;
      const page = await deliveries.dead(id, { after: cursor, limit });
      return page && { letters: page.letters, cursor: page.next ?? null };
    },
    async replay(id, { eventIds } = {}) {
      const dispatcher = find(id);
      if (dispatcher === undefined) return undefined;
      const replayed = await deliveries.replay(id, eventIds);
      dispatcher.wake();
      return replayed;
    },
  };
}
