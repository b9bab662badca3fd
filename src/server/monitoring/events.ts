/** The events of this node for the program that it runs in: each listener hears them in their order, and disturbs nobody. */
import type { Engine } from '../../engine/engine.ts';
import type { FeedEvent } from '../../protocol/feed.ts';
import type { Stop } from '../../support/clock.ts';
import type { Log } from '../../support/log.ts';
import { OptionError } from '../options/options.ts';

/** What it returns is not waited for; what it throws is logged. */
export type EventListener = (event: FeedEvent) => unknown;

export interface Events {
  /**
   * Hears every event that this node commits from now on, right after it is committed. With Redis they come by its channel:
   * at most once, none while it is away. Those of other nodes are in the feed, for who reads it.
   *
   * @returns a function that ends it
   * @throws OptionError when `feedMaxEvents` is 0: there are no events then.
   */
  subscribe(listener: EventListener): Stop;
}

export function createEvents(feed: Engine['feed'], feedMaxEvents: number, log: Log): Events {
  return {
    subscribe(listener) {
      if (feedMaxEvents === 0)
        throw new OptionError('feedMaxEvents', 'must be more than 0 for who wants to hear of events');
      let stopped = false;
      const stop = feed.listen((event) => {
        // What is on its way when it ends is for nobody any more.
        if (stopped) return;
        // A copy, for the event itself is the one that others read; and a failure is the same, now or later.
        const heard = async () => listener(structuredClone(event));
        heard().catch((error: unknown) => log.error({ err: error, event: event.id }, 'a listener of events failed'));
      });
      return () => {
        stopped = true;
        stop();
      };
    },
  };
}
