/** How a store that is shared by several nodes fails. */

/** The store does not answer. Whether the command has taken effect is not known. */
export class StoreUnavailable extends Error {
  override readonly name = 'StoreUnavailable';
}

export interface StoreHealth {
  /**
   * `up`: it does what it is asked. `recovering`: it answers commands, but messages of other nodes may be missing. `down`: it
   * does not answer, or refuses to write.
   */
  readonly state: 'up' | 'recovering' | 'down';
  /** Why it is not up: the first word of Redis' refusal, such as READONLY or OOM, or what is missing. */
  readonly reason?: string;
  /** Since when, in milliseconds since 1970. */
  readonly since: number;
}
