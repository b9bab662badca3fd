/** Numbers that never repeat: the port. */

/** What a number can be given to. */
export type ItemType = 'room';

export interface ReferenceGenerator {
  /**
   * A reference that has never been given and never will be again.
   *
   * @throws ReferenceUnavailable when none can be issued now; never a guess.
   */
  generate(itemType: ItemType): Promise<string>;
}

export class ReferenceUnavailable extends Error {
  override readonly name = 'ReferenceUnavailable';
}
