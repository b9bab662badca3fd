/** Stores whose code is loaded when somebody first needs them, behind the ports that they will stand behind. */
import { withDeadline } from '../support/deadline.ts';
import type { Counter } from './counter.ts';
import type { Ledger } from './ledger.ts';

/** For whatever a driver does not bound by itself. */
const ANSWER_MS = 2_500;
const CLOSE_MS = 1_000;

const tooLate = (): Error => new Error(`the ledger has not answered within ${ANSWER_MS} ms`);

export function lazyLedger(name: string, load: () => Promise<Ledger>): Ledger {
  let loaded: Promise<Ledger> | undefined;
  const ask = <T>(question: (ledger: Ledger) => Promise<T>): Promise<T> => {
    loaded ??= load();
    return withDeadline(loaded.then(question), ANSWER_MS, tooLate);
  };
  return {
    name,
    open: () => ask((ledger) => ledger.open()),
    now: () => ask((ledger) => ledger.now()),
    lease: (lease) => ask((ledger) => ledger.lease(lease)),
    record: (marks) => ask((ledger) => ledger.record(marks)),
    async close() {
      if (loaded === undefined) return;
      const closing = loaded.then((ledger) => ledger.close());
      await withDeadline(closing, CLOSE_MS, tooLate).catch(() => {});
    },
  };
}

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
