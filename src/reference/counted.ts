/** References by count: they do not repeat because every number was leased from a durable seed before it is used. */
import { type Clock, systemClock } from '../support/clock.ts';
import { type Log, silentLog } from '../support/log.ts';
import { createLoneSupply } from './alone.ts';
import type { Counter } from './counter.ts';
import { Dispenser } from './dispenser.ts';
import { type ParsedReference, parseReference, writeReference } from './format.ts';
import type { Issue, ReferenceGenerator, ReferenceNotice } from './generator.ts';
import { type ItemTypes, itemTypeOf, itemTypesWith } from './item-types.ts';
import { Leasing } from './leasing.ts';
import type { Ledger } from './ledger.ts';
import { sizeOf } from './range.ts';
import { createRecords } from './records.ts';
import type { Supply } from './supply.ts';
import { Together } from './together.ts';

export interface CountedReferences extends ReferenceGenerator {
  /**
   * So many at once.
   *
   * @throws ReferenceUnavailable when there are not so many now.
   */
  generateMany(itemType: string, count: number, issue?: Issue): Promise<string[]>;
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
  readonly held?: readonly string[];
  /** How long the database may be away without anybody noticing, at the rate of late. */
  readonly outageMs?: number;
  /** Size of a block when next to nothing is asked for. */
  readonly leastBlock?: number;
  readonly log?: Log;
  readonly clock?: Clock;
  /** Hears what an operator must look at; it stands in the log too. */
  readonly onNotice?: (notice: ReferenceNotice) => void;
}

export interface CountingParts {
  readonly ledger: Ledger;
  readonly counter?: Counter | undefined;
}

const OUTAGE_MS = 15 * 60_000;
/** Left behind unused by every restart: of a process on its own, and of Redis. */
const LEAST_ALONE = 100;
const LEAST_SHARED = 1_000;
export const MOST_AT_ONCE = 1_000_000;

export function createCountedReferences(parts: CountingParts, options: CountingOptions = {}): CountedReferences {
  const { log = silentLog, clock = systemClock, year } = options;
  const types = itemTypesWith(options.types);
  const dispensers = new Map<string, Dispenser>();
  const records = createRecords(parts.ledger, clock, log);

  const dispenserOf = (itemType: string): Dispenser => {
    const known = dispensers.get(itemType);
    if (known !== undefined) return known;
    const dispenser = new Dispenser({ supply: supplyFor(itemType, types, parts, options), clock, log, year });
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
    about: `counted, in ${parts.ledger.name}`,
    async prepare() {
      await Promise.all((options.held ?? []).map((itemType) => dispenserOf(itemType).prepare()));
    },
    async generate(itemType, { traceId, name } = {}) {
      const [reference = ''] = await issue(itemType, 1);
      log.info({ itemType, reference, traceId, name }, 'a reference was issued');
      return reference;
    },
    async generateMany(itemType, count, { traceId, name } = {}) {
      if (!Number.isInteger(count) || count < 1 || count > MOST_AT_ONCE) {
        throw new RangeError(`count must be a whole number from 1 to ${MOST_AT_ONCE}`);
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

function supplyFor(itemType: string, types: ItemTypes, parts: CountingParts, options: CountingOptions): Supply {
  const { ledger, counter } = parts;
  const { log = silentLog, onNotice = () => {}, outageMs = OUTAGE_MS, leastBlock } = options;
  const type = itemTypeOf(types, itemType);
  const leasing = new Leasing(itemType, type, { ledger, log, notify: onNotice });
  const alone = createLoneSupply({ leasing, outageMs, leastBlock: leastBlock ?? LEAST_ALONE });
  if (counter === undefined) return alone;
  const held = options.held?.includes(itemType) ?? false;
  return new Together({ type, counter, leasing, alone, outageMs, leastBlock: leastBlock ?? LEAST_SHARED, held, log });
}
