/** Warnings about what strangers cause: each text once in a while, however often its cause occurs. */
import type { Clock } from '../../support/clock.ts';
import type { Log } from '../../support/log.ts';

const AGAIN_AFTER_MS = 60_000;

/** @param text one of a few: nothing in it comes from a client. */
export type SeldomWarning = (text: string, againAfterMs?: number) => void;

export function createSeldomWarning(log: Log, clock: Clock): SeldomWarning {
  const warnedAt = new Map<string, number>();
  return (text, againAfterMs = AGAIN_AFTER_MS) => {
    const now = clock.monotonic();
    if (now - (warnedAt.get(text) ?? Number.NEGATIVE_INFINITY) < againAfterMs) return;
    warnedAt.set(text, now);
    log.warn(text);
  };
}
