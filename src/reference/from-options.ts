/** Joins a generator of references with the stores that options name. */

import type { Database } from '../database/database.ts';
import { type DatabaseOptions, sharedDatabaseUrl } from '../database/database-url.ts';
import { openDatabase } from '../database/open.ts';
import { type Clock, systemClock } from '../support/clock.ts';
import { type Log, silentLog } from '../support/log.ts';
import type { StoreHealth } from '../support/store.ts';
import type { Counter } from './counter.ts';
import { type CountedReferences, type CountingOptions, createCountedReferences } from './generator.ts';
import { readItemTypes } from './item-types.ts';
import { type Ledger, LedgerMisconfigured } from './ledger.ts';
import type { ReferenceNotice } from './port.ts';
import { createSqlLedger } from './sql-ledger.ts';

export interface ReferenceGeneratorOptions extends CountingOptions {
  /** The Redis that all nodes share (redis://, rediss://, unix://, redis+sentinel:// or redis+cluster://). Without it, every process leases blocks of its own. */
  readonly redis?: string | undefined;
  /** The database that all nodes share: postgres://, mysql://, sqlite:path; or a ledger of your own. */
  readonly ledger: string | Ledger;
  /** Prefix of the keys in Redis: `ecm` gives `ecm:ref:1`. It does not separate numbers: those belong to the ledger. */
  readonly referencePrefix?: string | undefined;
}

const DEFAULT_REFERENCE_PREFIX = 'sb';

/**
 * A generator of numbers that never repeat: `ROM202600000042`. The database is connected to at the first request; Redis
 * at once, in the background.
 *
 * @throws LedgerMisconfigured when there is no ledger, or its URL cannot be read.
 * @throws ItemTypeError when two item types share a name, a number or a prefix.
 */
export function createReferenceGenerator(options: ReferenceGeneratorOptions): CountedReferences {
  const { redis, ledger, referencePrefix = DEFAULT_REFERENCE_PREFIX, log = silentLog, ...counting } = options;
  const stores = {
    ledger: ledgerOf(ledger, log),
    ...(redis !== undefined && {
      counter: lazyCounter(
        async () => (await import('./redis/counter.ts')).createRedisCounter({ url: redis, referencePrefix, log }),
        (options.clock ?? systemClock).now(),
      ),
    }),
  };
  return createCountedReferences(stores, { ...counting, log });
}

/** The server options that decide about references. */
export interface ReferenceOptions extends DatabaseOptions {
  readonly redisPrefix: string;
  readonly referencePrefix?: string | undefined;
  readonly itemTypes: readonly string[];
}

interface ReferenceDeps {
  /** The server's own database, when it is open already. */
  readonly database?: Database | undefined;
  readonly log?: Log | undefined;
  readonly clock?: Clock | undefined;
  /** Item types of which some numbers are buffered in memory. */
  readonly buffered?: readonly string[];
  readonly outageMs?: number;
  readonly minBlock?: number;
  readonly onNotice?: (notice: ReferenceNotice) => void;
}

/** Counted references of a server; undefined when its nodes share no database to count in. */
export function referencesFromOptions(
  options: ReferenceOptions,
  { database, log, clock, ...others }: ReferenceDeps,
): CountedReferences | undefined {
  const url = sharedDatabaseUrl(options);
  if (url === undefined) return undefined;
  return createReferenceGenerator({
    redis: options.redisUrl,
    ledger: database === undefined ? url : createSqlLedger(database),
    referencePrefix: options.referencePrefix ?? options.redisPrefix,
    types: readItemTypes(options.itemTypes),
    ...(log !== undefined && { log }),
    ...(clock !== undefined && { clock }),
    ...others,
  });
}

/**
 * The ledger at a URL. Nothing is connected to yet.
 *
 * @param url as `openDatabase` takes it
 * @throws LedgerMisconfigured
 */
export const openLedger = (url: string, log?: Log): Ledger => createSqlLedger(openDatabase(url, log));

/** Takes `unknown`, because callers in plain JavaScript may pass anything, or nothing. */
function ledgerOf(ledger: unknown, log: Log): Ledger {
  if (typeof ledger === 'string') return openLedger(ledger, log);
  if (isLedger(ledger)) return ledger;
  throw new LedgerMisconfigured('ledger: needed; such as sqlite:data/signalbox.db, or a ledger of your own');
}

const isLedger = (ledger: unknown): ledger is Ledger => typeof Reflect.get(Object(ledger), 'lease') === 'function';

/** A counter behind its port whose module is loaded on demand: only servers with Redis pay for its client. */
function lazyCounter(load: () => Promise<Counter>, since: number): Counter {
  // Loaded now, not at the first request: it connects in the background.
  const loaded = load();
  let counter: Counter | undefined;
  loaded.then(
    (it) => {
      counter = it;
    },
    () => {},
  );
  const unloaded: StoreHealth = { state: 'down', reason: 'no connection', since };
  return {
    take: async (request) => (await loaded).take(request),
    add: async (type, block) => (await loaded).add(type, block),
    health: () => counter?.health() ?? unloaded,
    close: async () => loaded.then((it) => it.close()).catch(() => {}),
  };
}
