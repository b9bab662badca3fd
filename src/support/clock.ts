/** Time as an argument: the system's, or one that a test turns by hand. */

/** Ends what a clock has started. Calling it twice does no harm. */
export type Stop = () => void;

export interface Clock {
  /** Milliseconds since 1970. */
  now(): number;
  /** Calls once, after `ms` milliseconds. */
  after(ms: number, call: () => void): Stop;
  /** Calls again and again, `ms` milliseconds apart. */
  every(ms: number, call: () => void): Stop;
}

/** Its timers do not keep the process alive: whoever serves does that. */
export const systemClock: Clock = {
  now: () => Date.now(),
  after(ms, call) {
    const timer = setTimeout(call, ms).unref();
    return () => clearTimeout(timer);
  },
  every(ms, call) {
    const timer = setInterval(call, ms).unref();
    return () => clearInterval(timer);
  },
};
