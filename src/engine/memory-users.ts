/** The users' records of a single process. Each expires when it has not been written for its time to live. */
import type { UserId } from '../protocol/ids.ts';
import type { Outcome, UserCommand } from '../room/commands.ts';
import type { Policy } from '../room/room.ts';
import { applyUserRule } from '../room/rules.ts';
import { recordTtl, type UserRecord } from '../room/user.ts';

const SWEEP_MS = 1000;

export class MemoryUsers {
  readonly #policy: Policy;
  /** Writing moves a record to the end of the map, so the ones that expire next are at its beginning. */
  readonly #records = new Map<UserId, { readonly record: UserRecord; readonly until: number }>();
  #sweptAt = 0;

  constructor(policy: Policy) {
    this.#policy = policy;
  }

  apply<C extends UserCommand>(command: C, now: number): Outcome<C> {
    this.#sweep(now);
    const stored = this.#records.get(command.userId);
    const current = stored !== undefined && stored.until > now ? stored.record : undefined;
    const { outcome, record } = applyUserRule(current, command, now);
    if (record !== undefined) this.#records.delete(command.userId);
    if (record) this.#records.set(command.userId, { record, until: now + recordTtl(record, this.#policy) });
    return outcome;
  }

  /** Moves the expiry of all records, because the clock was set by `ms`. */
  shift(ms: number): void {
    for (const [userId, { record, until }] of this.#records) this.#records.set(userId, { record, until: until + ms });
    this.#sweptAt += ms;
  }

  #sweep(now: number): void {
    // Not at every command: V8 walks over the holes that deleted records leave at the beginning of the map.
    if (now - this.#sweptAt < SWEEP_MS) return;
    this.#sweptAt = now;
    for (const [userId, { until }] of this.#records) {
      if (until > now) return;
      this.#records.delete(userId);
    }
  }
}
