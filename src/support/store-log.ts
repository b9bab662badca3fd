import type { Log } from './log.ts';
import type { StoreHealth } from './store.ts';

/**
 * One warning when a store stops working, and one for each further reason of the same outage; one line when it works again.
 * Not one for each request that fails, nor one whenever two reasons alternate.
 */
export function createStoreLog(log: Pick<Log, 'info' | 'warn'>, name: string): (health: StoreHealth) => void {
  const told = new Set<string>();
  return ({ state: store, reason = '' }) => {
    if (store === 'up') {
      told.clear();
      log.info({ store }, `${name} works again`);
    } else if (!told.has(reason) && (store === 'down' || told.size === 0)) {
      told.add(reason);
      log.warn({ store, reason }, `${name} does not work`);
    }
  };
}
