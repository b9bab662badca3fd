/** Port of the reference generators, as the server knows them. */
import type { StoreHealth } from '../support/store.ts';

/** Logged with each issued reference. */
export interface IssueContext {
  readonly traceId?: string;
  readonly name?: string;
}

export interface ReferenceGenerator {
  /** How references are made, and where they are counted; without credentials. For people. */
  readonly description: string;
  /**
   * A reference that was never issued before and never will be again.
   *
   * @throws ReferenceUnavailable when uniqueness cannot be guaranteed now.
   */
  generate(itemType: string, context?: IssueContext): Promise<string>;
  /**
   * Issues 1 to 1,000,000 references at once. Missing in a random generator, which issues for rooms and users only.
   *
   * @throws ReferenceUnavailable when there are not enough numbers now.
   */
  generateMany?(itemType: string, count: number, context?: IssueContext): Promise<string[]>;
  /**
   * Notes that an application record has this reference. A database that is later restored from an older backup is then
   * noticed, even if no process remembers the number. Written some moments later, only the highest of each year.
   *
   * @throws ReferenceMalformed when it is no reference of this generator.
   */
  record(reference: string): void;
  /** The health of each store that it counts in, by the name of the store; missing where there is none. */
  health?(): Readonly<Record<string, StoreHealth>>;
  /** Stops what the generator has started. Buffered numbers are never used. */
  close(): Promise<void>;
}

/** Alarm for the operator. */
export interface ReferenceNotice {
  /** The seed was behind numbers in use: the database was restored from a backup, or is a different one. */
  readonly kind: 'ledger-behind';
  readonly itemType: string;
  readonly year: number;
  /** Last number leased, according to the database. */
  readonly seed: number;
  /** Highest number known to be in use. */
  readonly inUse: number;
  /** First number of the next lease. */
  readonly continuesAt: number;
}

export class ReferenceUnavailable extends Error {
  override readonly name = 'ReferenceUnavailable';
}
