/** References by count: they do not repeat because every number was leased from a durable seed before it is used. */
import { type Clock, systemClock } from '../support/clock.ts';
import { type Log, silentLog } from '../support/log.ts';
import { BlockLeaser } from './block-leaser.ts';
import type { Counter } from './counter.ts';
import { type ParsedReference, parseReference, writeReference } from './format.ts';
import { createHighWaterMarks } from './high-water-marks.ts';
import { type ItemTypes, itemTypeOf, itemTypesWith } from './item-types.ts';
import type { Ledger } from './ledger.ts';
import { createLedgerSource } from './ledger-source.ts';
import { NumberBuffer } from './number-buffer.ts';
import type { IssueContext, ReferenceGenerator, ReferenceNotice } from './port.ts';
import { sizeOf } from './range.ts';
import { SharedSource } from './shared-source.ts';
import type { NumberSource } from './source.ts';

export interface CountedReferences extends ReferenceGenerator {
  /**
   * So many at once.
   *
   * @throws ReferenceUnavailable when there are not so many now.
   */
  generateMany(itemType: string, count: number, issue?: IssueContext): Promise<string[]>;
  /** @throws ReferenceMalformed when no generator of these item types has written it. */
  parse(reference: string): ParsedReference;
  /**
   * Draws what is held in memory of those item types, so that the first who asks does not wait.
   *
   * @throws ReferenceUnavailable
   */
  prepare(): Promise<void>;
}

export interface CountingOptions {
  /** Instead of the year of the store's clock. */
  readonly year?: number;
  /** Item types of one's own, beside order, user, product and room. */
  readonly types?: ItemTypes;
  /** Item types of which this process holds some numbers in memory, so that nobody waits for Redis. */
  readonly buffered?: readonly string[];
  /** How long the database may be away without anybody noticing, at the rate of late. */
  readonly outageMs?: number;
  /** Size of a block when next to nothing is asked for. */
  readonly minBlock?: number;
  readonly log?: Log;
  readonly clock?: Clock;
  /** Hears what an operator must look at; it stands in the log too. */
  readonly onNotice?: (notice: ReferenceNotice) => void;
}

export interface GeneratorStores {
  readonly ledger: Ledger;
  readonly counter?: Counter | undefined;
}

const OUTAGE_MS = 15 * 60_000;
/** Left behind unused by every restart: of a process on its own, and of Redis. */
const MIN_LEDGER_BLOCK = 100;
const MIN_SHARED_BLOCK = 1_000;
export const MAX_AT_ONCE = 1_000_000;

export function createCountedReferences(parts: GeneratorStores, options: CountingOptions = {}): CountedReferences {
  const { log = silentLog, clock = systemClock, year } = options;
  const types = itemTypesWith(options.types);
  const dispensers = new Map<string, NumberBuffer>();
  const records = createHighWaterMarks(parts.ledger, clock, log);

  const dispenserOf = (itemType: string): NumberBuffer => {
    const known = dispensers.get(itemType);
    if (known !== undefined) return known;
    const dispenser = new NumberBuffer({ source: sourceFor(itemType, types, parts, options), clock, log, year });
    dispensers.set(itemType, dispenser);
    return dispenser;
  };

  const issue = async (itemType: string, count: number): Promise<string[]> => {
    const type = itemTypeOf(types, itemType);
    const ranges = await dispenserOf(itemType).take(count);
    return ranges.flatMap((range) =>
      Array.from({ length: sizeOf(range) }, (_, index) => writeReference(type, range.year, range.first + index)),
    );
  };

  return {
    description: `counted, in ${parts.ledger.name}`,
    async prepare() {
      await Promise.all((options.buffered ?? []).map((itemType) => dispenserOf(itemType).prepare()));
    },
    async generate(itemType, { traceId, name } = {}) {
      const [reference = ''] = await issue(itemType, 1);
      log.info({ itemType, reference, traceId, name }, 'a reference was issued');
      return reference;
    },
    async generateMany(itemType, count, { traceId, name } = {}) {
      if (!Number.isInteger(count) || count < 1 || count > MAX_AT_ONCE) {
        throw new RangeError(`count must be a whole number from 1 to ${MAX_AT_ONCE}`);
      }
      const references = await issue(itemType, count);
      const [first, last] = [references[0], references.at(-1)];
      log.info({ itemType, count, first, last, traceId, name }, 'references were issued');
      return references;
    },
    parse: (reference) => parseReference(types, reference),
    record(reference) {
      const { type, year: of, sequence } = parseReference(types, reference);
      records.note({ prefix: itemTypeOf(types, type).prefix, year: of, sequence });
    },
    async close() {
      await records.close();
      await Promise.all([parts.counter?.close(), parts.ledger.close()]);
    },
  };
}

function sourceFor(itemType: string, types: ItemTypes, parts: GeneratorStores, options: CountingOptions): NumberSource {
  const { ledger, counter } = parts;
  const { log = silentLog, onNotice = () => {}, outageMs = OUTAGE_MS, minBlock } = options;
  const type = itemTypeOf(types, itemType);
  const leaser = new BlockLeaser(itemType, type, { ledger, log, notify: onNotice });
  const ledgerSource = createLedgerSource({ leaser, outageMs, minBlock: minBlock ?? MIN_LEDGER_BLOCK });
  if (counter === undefined) return ledgerSource;
  const isBuffered = options.buffered?.includes(itemType) ?? false;
  return new SharedSource({
    type,
    counter,
    leaser,
    ledgerSource,
    outageMs,
    minBlock: minBlock ?? MIN_SHARED_BLOCK,
    isBuffered,
    log,
  });
}
