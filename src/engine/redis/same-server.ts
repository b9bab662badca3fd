/**
 * Keeps the connections of a node on one server. The name of a Redis leads to another server after a failover, and then to
 * that one for each connection that is made anew. With one of them left behind on the old server, the node would write and
 * publish where it does not listen.
 */
import type { Clock } from '../../support/clock.ts';
import type { Log } from '../../support/log.ts';

interface WatchedClient {
  on(event: 'ready', listener: () => void): unknown;
}

export interface SameServerOptions {
  /** Each time one of them was made anew, it is looked whether they are on one server. */
  readonly clients: readonly WatchedClient[];
  /** Resolves when the node's own channel is subscribed on the current connection; rejects when it cannot be now. */
  readonly live: () => Promise<void>;
  /** For each of the other connections, how many subscribers of that channel its server has. */
  readonly countSubscribers: () => Promise<readonly number[]>;
  /** Makes all connections anew, with pauses. */
  readonly reconnect: () => void;
  readonly clock: Pick<Clock, 'after'>;
  readonly log: Pick<Log, 'warn'>;
}

/** Until they are known to be together, it is looked again. */
const AGAIN_MS = 500;

/** @returns a function that ends the watch. */
export function keepOnSameServer(options: SameServerOptions): () => void {
  const { clients, live, countSubscribers, reconnect, clock, log } = options;
  let underWay = false;
  let told = false;
  let stopped = false;
  /** @returns whether they are together; rejects when one is not connected. */
  const look = async (): Promise<boolean> => {
    await live();
    const together = !(await countSubscribers()).includes(0);
    if (!together && !told) log.warn('the connections to Redis lead to different servers: they are made anew');
    told = !together;
    if (!together && !stopped) reconnect();
    return together;
  };
  const lookAgain = (): void => {
    if (underWay || stopped) return;
    underWay = true;
    void look()
      .catch(() => false)
      .then((together) => {
        underWay = false;
        if (!together) clock.after(AGAIN_MS, lookAgain);
      });
  };
  for (const client of clients) client.on('ready', lookAgain);
  return () => {
    stopped = true;
  };
}
