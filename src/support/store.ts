/** How a store that is shared by several nodes fails. */

/** The store does not answer. Whether the command has taken effect is not known. */
export class StoreUnavailable extends Error {
  override readonly name = 'StoreUnavailable';
}

export interface StoreHealth {
  /** `recovering`: it answers commands, but messages of other nodes may be missing. */
  readonly state: 'up' | 'recovering' | 'down';
  /** Since when, in milliseconds since 1970. */
  readonly since: number;
}
