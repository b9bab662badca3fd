/** Numbers that never repeat: the port. */

/** Who asked for a number, for the log. */
export interface Issue {
  readonly traceId?: string;
  readonly name?: string;
}

export interface ReferenceGenerator {
  /**
   * A reference that has never been given and never will be again.
   *
   * @throws ReferenceUnavailable when none can be issued now; never a guess.
   */
  generate(itemType: string, issue?: Issue): Promise<string>;
}

export class ReferenceUnavailable extends Error {
  override readonly name = 'ReferenceUnavailable';
}
