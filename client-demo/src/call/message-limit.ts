/** Lets through as much of what each of the others writes as can be read, so that nobody can freeze the page. */

/** In each second. */
const MAX_MESSAGES = 20;
const SECOND_MS = 1_000;
/** Whoever has been let through for as long has calmed down: the next flood of theirs is told of again. */
const CALM_MS = 10_000;

interface Pace {
  begin: number;
  lines: number;
  floodedAt: number;
}

export class MessageLimit {
  readonly #paces = new Map<string | null, Pace>();

  /** `warn`: not to be shown, and that is to be said. */
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
