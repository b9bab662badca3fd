/** Time as an argument: the system's clock and timers, or a clock that a test moves by hand. */

/** Cancels a timer. Calling it twice does no harm. */
export type Stop = () => void;

export interface Clock {
  /** Milliseconds since 1970: for timestamps. An operator or NTP may set this clock back. */
  now(): number;
  /** Milliseconds since an arbitrary start, never set back: for durations and deadlines. */
  monotonic(): number;
  /** Calls once, after `ms` milliseconds. */
  after(ms: number, call: () => void): Stop;
  /** Calls again and again, `ms` milliseconds apart. */
  every(ms: number, call: () => void): Stop;
  /** Calls in the next turn of the event loop, after pending input and output. */
  nextTurn(call: () => void): void;
}

/** Node's clock. Its timers do not keep the process alive: a listening socket does. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after(ms, call) {
    const timer = setTimeout(call, ms).unref();
    return () => clearTimeout(timer);
  },
  every(ms, call) {
    const timer = setInterval(call, ms).unref();
    return () => clearInterval(timer);
  },
  nextTurn(call) {
    setImmediate(call);
  },
};

/** Resolves in the next turn of the event loop: long work that awaits it lets other work run in between. */
export const turn = (clock: Pick<Clock, 'nextTurn'>): Promise<void> =>
  new Promise((resolve) => clock.nextTurn(resolve));
