/** The SDK's clock: by what browsers and Node have in common. In Node, its timers keep the process alive. */
import type { Clock } from './clock.ts';

export const pageClock: Omit<Clock, 'nextTurn'> = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after(ms, call) {
    const timer = setTimeout(call, ms);
    return () => clearTimeout(timer);
  },
  every(ms, call) {
    const timer = setInterval(call, ms);
    return () => clearInterval(timer);
  },
};
