/** Joins a generator of references with the stores that its options name. */
import { type Log, silentLog } from '../support/log.ts';
import { type CountedReferences, type CountingOptions, createCountedReferences } from './counted.ts';
import { lazyCounter } from './lazy.ts';
import { type Ledger, LedgerMisconfigured } from './ledger.ts';
import { openLedger } from './open-ledger.ts';

export interface ReferenceGeneratorOptions extends CountingOptions {
  /** The Redis that all nodes share (redis:// or rediss://). Without it, every process leases blocks of its own. */
  readonly redis?: string | undefined;
  /** The database that all nodes share: postgres://, mysql://, sqlite:path; or a ledger of one's own. */
  readonly ledger: string | Ledger;
  /** Begins the keys in Redis: `ecm` gives `ecm:ref:1`. It does not part numbers: those are of the ledger. */
  readonly site?: string | undefined;
}

const DEFAULT_SITE = 'sb';

/**
 * Numbers that never repeat: `ROM202600000042`. Nothing is connected to before the first is asked for, but Redis, which
 * is connected to in the background.
 *
 * @throws LedgerMisconfigured when there is no ledger, or its URL cannot be read.
 * @throws ItemTypeError when item types would meet.
 */
export function createReferenceGenerator(options: ReferenceGeneratorOptions): CountedReferences {
  const { redis, ledger, site = DEFAULT_SITE, log = silentLog, ...counting } = options;
  const parts = {
    ledger: ledgerOf(ledger, log),
    ...(redis !== undefined && {
      counter: lazyCounter(async () =>
        (await import('./redis/counter.ts')).createRedisCounter({ url: redis, site, log }),
      ),
    }),
  };
  return createCountedReferences(parts, { ...counting, log });
}

/** In JavaScript it may be missing, or anything. */
function ledgerOf(given: unknown, log: Log): Ledger {
  if (typeof given === 'string') return openLedger(given, log);
  if (isLedger(given)) return given;
  throw new LedgerMisconfigured('ledger: needed; such as sqlite:data/signalbox.db, or a ledger of your own');
}

const isLedger = (given: unknown): given is Ledger => typeof Reflect.get(Object(given), 'lease') === 'function';
