/** The health of a store as it was last found, and since when it has been in that state. */
import type { Clock } from './clock.ts';
import type { StoreHealth } from './store.ts';

export class HealthRecord {
  readonly #clock: Pick<Clock, 'now'>;
  readonly #onChange: ((health: StoreHealth) => void) | undefined;
  #current: StoreHealth;

  /** @param onChange is called when the state or its reason has changed; not while it stays up. */
  constructor(clock: Pick<Clock, 'now'>, onChange: ((health: StoreHealth) => void) | undefined) {
    this.#clock = clock;
    this.#onChange = onChange;
    this.#current = { state: 'up', since: clock.now() };
  }

  get current(): StoreHealth {
    return this.#current;
  }

  update(found: Omit<StoreHealth, 'since'>): void {
    const before = this.#current;
    const since = found.state === before.state ? before.since : this.#clock.now();
    this.#current = { ...found, since };
    const hasChanged = found.state !== before.state || found.reason !== before.reason;
    // What is missing while it works is for operators who ask.
    const staysUp = found.state === 'up' && before.state === 'up';
    if (hasChanged && !staysUp) this.#onChange?.(this.#current);
  }
}
