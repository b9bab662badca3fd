/** Chance for jitter, in browsers too. Codes and secrets come from `random.ts`, never from here. */

export interface Chance {
  /** At least 0 and less than 1. Predictable: not for secrets. */
  fraction(): number;
}

export const systemChance: Chance = { fraction: () => Math.random() };
