/** How a server comes by its references: by count where all nodes share a ledger, else by chance. */
import { type DatabaseCircumstances, sharedDatabaseOf } from '../database/choose.ts';
import type { Database } from '../database/database.ts';
import type { Clock } from '../support/clock.ts';
import type { Log } from '../support/log.ts';
import type { CountedReferences } from './counted.ts';
import { createReferenceGenerator } from './create.ts';
import type { ReferenceNotice } from './generator.ts';
import { readItemTypes } from './item-types.ts';
import { createSqlLedger } from './sql-ledger.ts';

/** The options of a server that decide. */
export interface Circumstances extends DatabaseCircumstances {
  readonly redisPrefix: string;
  readonly referencePrefix?: string | undefined;
  readonly itemTypes: readonly string[];
}

interface Extras {
  /** The shared one, where it is open already. */
  readonly database?: Database | undefined;
  readonly log?: Log | undefined;
  readonly clock?: Clock | undefined;
  /** Item types of which some numbers are held in memory. */
  readonly held?: readonly string[];
  readonly outageMs?: number;
  readonly leastBlock?: number;
  readonly onNotice?: (notice: ReferenceNotice) => void;
}

/** Counted references, or undefined where there is no ledger to count in. */
export function countedReferences(
  given: Circumstances,
  { database, log, clock, ...others }: Extras,
): CountedReferences | undefined {
  const url = sharedDatabaseOf(given);
  if (url === undefined) return undefined;
  return createReferenceGenerator({
    redis: given.redisUrl,
    ledger: database === undefined ? url : createSqlLedger(database),
    site: given.referencePrefix ?? given.redisPrefix,
    types: readItemTypes(given.itemTypes),
    ...(log !== undefined && { log }),
    ...(clock !== undefined && { clock }),
    ...others,
  });
}
