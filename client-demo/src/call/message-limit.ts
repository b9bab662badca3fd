/** Rate limit for the chat messages of each sender: a flood would freeze the page. */

/** Per second. */
const MAX_MESSAGES = 20;
const SECOND_MS = 1_000;
/** After this time without a dropped message, the next one is reported again. */
const CALM_MS = 10_000;

interface Pace {
  begin: number;
  lines: number;
  floodedAt: number;
}

export class MessageLimit {
  readonly #paces = new Map<string | null, Pace>();

  /** `warn`: drop it, and report that messages are dropped. */
  pass(from: string | null, now: number): 'show' | 'warn' | 'drop' {
    const pace = this.#paces.get(from) ?? { begin: now, lines: 0, floodedAt: Number.NEGATIVE_INFINITY };
    this.#paces.set(from, pace);
    if (now - pace.begin >= SECOND_MS) Object.assign(pace, { begin: now, lines: 0 });
    pace.lines += 1;
    if (pace.lines <= MAX_MESSAGES) return 'show';
    const isNews = now - pace.floodedAt >= CALM_MS;
    pace.floodedAt = now;
    return isNews ? 'warn' : 'drop';
  }
}
