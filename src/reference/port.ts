/** Numbers that never repeat: the port. */

/** Who asked for a number, for the log. */
export interface IssueContext {
  readonly traceId?: string;
  readonly name?: string;
}

export interface ReferenceGenerator {
  /** For people: how they come about, and where they are counted. Without credentials. */
  readonly description: string;
  /**
   * A reference that has never been given and never will be again.
   *
   * @throws ReferenceUnavailable when none can be issued now; never a guess.
   */
  generate(itemType: string, issue?: IssueContext): Promise<string>;
  /**
   * So many at once, 1 to 1,000,000; of a generator that counts. One that draws by chance issues for rooms and users, and
   * is no source of numbers for others.
   *
   * @throws ReferenceUnavailable when there are not so many now.
   */
  generateMany?(itemType: string, count: number, issue?: IssueContext): Promise<string[]>;
  /**
   * Notes that a record carries this reference: a database that is restored from before it is then noticed, even when
   * nobody else remembers. Written some moments later, the highest of each year alone.
   *
   * @throws ReferenceMalformed when it is none of this generator's.
   */
  record(reference: string): void;
  /** Ends what it has started. What it holds in memory is never used. */
  close(): Promise<void>;
}

/** Something that an operator must look at. */
export interface ReferenceNotice {
  /** The seed was behind what is in use: the database was restored from a backup, or is another one. */
  readonly kind: 'ledger-behind';
  readonly itemType: string;
  readonly year: number;
  /** Where the seed stood. */
  readonly seed: number;
  /** The highest number that is known to be in use. */
  readonly inUse: number;
  /** Where counting goes on. */
  readonly continuesAt: number;
}

export class ReferenceUnavailable extends Error {
  override readonly name = 'ReferenceUnavailable';
}
