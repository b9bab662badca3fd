/** Subscriptions of the embedding program to the events of this node. A failing listener does not affect the others. */
import type { Engine } from '../../engine/engine.ts';
import type { FeedEvent } from '../../protocol/feed.ts';
import type { Stop } from '../../support/clock.ts';
import type { Log } from '../../support/log.ts';
import { OptionError } from '../options/options.ts';

/** Its result is not awaited; an exception is logged. */
export type EventListener = (event: FeedEvent) => unknown;

export interface Events {
  /**
   * Calls the listener with every event that this node commits from now on, in order, right after the commit. With Redis,
   * events arrive by a pub/sub channel: at most once, and none while Redis is unavailable. Events of other nodes are only in
   * the feed.
   *
   * @returns a function that ends the subscription
   * @throws OptionError when `feedMaxEvents` is 0, which turns events off.
   */
  subscribe(listener: EventListener): Stop;
}

export function createEvents(feed: Engine['feed'], feedMaxEvents: number, log: Log): Events {
  return {
    subscribe(listener) {
      if (feedMaxEvents === 0) throw new OptionError('feedMaxEvents', 'must be more than 0 to subscribe to events');
      let stopped = false;
      const stop = feed.listen((event) => {
        // Drops events that were under way when the subscription ended.
        if (stopped) return;
        // A copy, because the event is shared. Async, so that exceptions and rejections are caught alike.
        const call = async () => listener(structuredClone(event));
        call().catch((error: unknown) => log.error({ err: error, event: event.id }, 'a listener of events failed'));
      });
      return () => {
        stopped = true;
        stop();
      };
    },
  };
}
