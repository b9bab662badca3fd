/** A counter whose code is loaded when somebody needs one, behind its port. */
import type { Counter } from './counter.ts';

export function lazyCounter(load: () => Promise<Counter>): Counter {
  // At once: it connects in the background.
  const loaded = load();
  loaded.catch(() => {});
  return {
    take: async (ask) => (await loaded).take(ask),
    add: async (type, block) => (await loaded).add(type, block),
    close: async () => loaded.then((counter) => counter.close()).catch(() => {}),
  };
}
