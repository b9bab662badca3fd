/** Counted references: they never repeat, because every number is leased from a durable seed before it is used. */
import { type Clock, systemClock } from '../support/clock.ts';
import { type Log, silentLog } from '../support/log.ts';
import type { StoreHealth } from '../support/store.ts';
import { createStoreLog } from '../support/store-log.ts';
import { StoreWatch } from '../support/store-watch.ts';
import { BlockLeaser } from './block-leaser.ts';
import type { Counter } from './counter.ts';
import { type ParsedReference, parseReference, writeReference } from './format.ts';
import { createHighWaterMarks } from './high-water-marks.ts';
import { type ItemTypes, itemTypeOf, itemTypesWith } from './item-types.ts';
import type { Ledger } from './ledger.ts';
import { createLedgerSource } from './ledger-source.ts';
import { NumberBuffer } from './number-buffer.ts';
import { whileSilent } from './patient-start.ts';
import type { IssueContext, ReferenceGenerator, ReferenceNotice } from './port.ts';
import { sizeOf } from './range.ts';
import { SharedSource } from './shared-source.ts';
import type { NumberSource } from './source.ts';

export interface CountedReferences extends ReferenceGenerator {
  /**
   * Issues `count` references at once.
   *
   * @throws ReferenceUnavailable when there are not enough numbers now; then none is issued.
   */
  generateMany(itemType: string, count: number, context?: IssueContext): Promise<string[]>;
  /** @throws ReferenceMalformed when it is no reference of a configured item type. */
  parse(reference: string): ParsedReference;
  /**
   * Fills the buffers of the buffered item types, so that the first request does not wait. A ledger that does not answer is
   * asked again for some seconds.
   *
   * @throws ReferenceUnavailable
   */
  prepare(): Promise<void>;
  health(): { readonly counter?: StoreHealth; readonly ledger: StoreHealth };
}

export interface CountingOptions {
  /** Fixed year, instead of the year of the store's clock. */
  readonly year?: number;
  /** Custom item types, in addition to order, user, product and room. */
  readonly types?: ItemTypes;
  /** Item types of which this process buffers some numbers in memory, so that requests do not wait for Redis. */
  readonly buffered?: readonly string[];
  /** Length of a database outage to bridge with leased numbers, at the recent request rate. */
  readonly outageMs?: number;
  /** Smallest block to lease, for a low request rate. */
  readonly minBlock?: number;
  readonly log?: Log;
  readonly clock?: Clock;
  /** Called with alarms for the operator; they are logged as well. */
  readonly onNotice?: (notice: ReferenceNotice) => void;
}

export interface GeneratorStores {
  readonly ledger: Ledger;
  /** Shared by all nodes. Without it, every process leases blocks of its own. */
  readonly counter?: Counter | undefined;
}

interface WatchedStores extends GeneratorStores {
  /** Of the ledger. */
  readonly watch: StoreWatch;
}

export const MAX_AT_ONCE = 1_000_000;

const OUTAGE_MS = 15 * 60_000;
/** The rest of a block is wasted by a restart of the process. */
const MIN_LEDGER_BLOCK = 100;
/** The rest of a block is wasted by a restart of Redis. */
const MIN_SHARED_BLOCK = 1_000;

export function createCountedReferences(stores: GeneratorStores, options: CountingOptions = {}): CountedReferences {
  const { log = silentLog, clock = systemClock, buffered = [] } = options;
  const types = itemTypesWith(options.types);
  const watch = new StoreWatch({ clock, onChange: createStoreLog(log, 'the ledger of references') });
  const buffers = createBuffers(types, { ...stores, watch }, options);
  const marks = createHighWaterMarks(stores.ledger, clock, log);
  const issue = async (itemType: string, count: number): Promise<string[]> => {
    const type = itemTypeOf(types, itemType);
    const ranges = await buffers(itemType).take(count);
    return ranges.flatMap((range) =>
      Array.from({ length: sizeOf(range) }, (_, index) => writeReference(type, range.year, range.first + index)),
    );
  };
  return {
    description: `counted, in ${stores.ledger.name}`,
    async prepare() {
      await Promise.all(buffered.map((itemType) => whileSilent(() => buffers(itemType).prepare(), { clock, log })));
    },
    async generate(itemType, { traceId, name } = {}) {
      const [reference = ''] = await issue(itemType, 1);
      log.info({ itemType, reference, traceId, name }, 'a reference was issued');
      return reference;
    },
    async generateMany(itemType, count, { traceId, name } = {}) {
      checkCount(count);
      const references = await issue(itemType, count);
      const [first, last] = [references[0], references.at(-1)];
      log.info({ itemType, count, first, last, traceId, name }, 'references were issued');
      return references;
    },
    parse: (reference) => parseReference(types, reference),
    record(reference) {
      const { type, year, sequence } = parseReference(types, reference);
      marks.note({ prefix: itemTypeOf(types, type).prefix, year, sequence });
    },
    health: () => ({
      ...(stores.counter && { counter: stores.counter.health() }),
      ledger: watch.health(),
    }),
    async close() {
      watch.stop();
      await marks.close();
      await Promise.all([stores.counter?.close(), stores.ledger.close()]);
    },
  };
}

function checkCount(count: number): void {
  if (Number.isInteger(count) && count >= 1 && count <= MAX_AT_ONCE) return;
  throw new RangeError(`count must be a whole number from 1 to ${MAX_AT_ONCE}`);
}

/** One buffer per item type, made at its first use. */
function createBuffers(
  types: ItemTypes,
  stores: WatchedStores,
  options: CountingOptions,
): (itemType: string) => NumberBuffer {
  const { log = silentLog, clock = systemClock, year } = options;
  const buffers = new Map<string, NumberBuffer>();
  return (itemType) => {
    const existing = buffers.get(itemType);
    if (existing !== undefined) return existing;
    const buffer = new NumberBuffer({ source: createSource(itemType, types, stores, options), clock, log, year });
    buffers.set(itemType, buffer);
    return buffer;
  };
}

function createSource(
  itemType: string,
  types: ItemTypes,
  { ledger, watch, counter }: WatchedStores,
  options: CountingOptions,
): NumberSource {
  const { log = silentLog, onNotice = () => {}, outageMs = OUTAGE_MS, minBlock, buffered = [] } = options;
  const type = itemTypeOf(types, itemType);
  const leaser = new BlockLeaser(itemType, type, { ledger, watch, log, notify: onNotice });
  const ledgerSource = createLedgerSource({ leaser, outageMs, minBlock: minBlock ?? MIN_LEDGER_BLOCK });
  if (counter === undefined) return ledgerSource;
  return new SharedSource({
    type,
    counter,
    leaser,
    ledgerSource,
    outageMs,
    minBlock: minBlock ?? MIN_SHARED_BLOCK,
    isBuffered: buffered.includes(itemType),
    log,
  });
}
