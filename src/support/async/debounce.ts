import type { Clock, Stop } from '../clock.ts';

export interface Debounced {
  /** Plans a call, unless one is pending. */
  readonly request: () => void;
  /** Drops a pending call. */
  readonly cancel: () => void;
}

/**
 * One call for all requests within `ms` of the first. Later requests do not move it, so that a steady stream of them
 * cannot put it off for ever.
 */
export function debounce(clock: Pick<Clock, 'after'>, ms: number, call: () => void): Debounced {
  let stop: Stop | undefined;
  return {
    request() {
      stop ??= clock.after(ms, () => {
        stop = undefined;
        call();
      });
    },
    cancel() {
      stop?.();
      stop = undefined;
    },
  };
}
