/**
 * Rate limit of frames, of one connection. The token bucket counts the requests of a session; this budget counts whatever
 * a transport receives, from its first frame to its last: parsing alone keeps the process busy, and ten connections that
 * flooded it before their handshake or while they were closing delayed the requests of others by seconds.
 */
import type { Clock } from '../../support/clock.ts';
import type { Options } from '../options/options.ts';

/** Frames per second that are no messages of a session. A well-behaved client sends one in ten seconds. */
const MAX_CONTROL_FRAMES = 20;

export interface FrameLimits {
  readonly messages: number;
  readonly control: number;
}

/** Messages above this limit have exhausted the token bucket before: it refuses first, with an error for each. */
export const frameLimitsOf = ({
  eventsPerSecond,
  eventsBurst,
  strikes,
}: Pick<Options, 'eventsPerSecond' | 'eventsBurst' | 'strikes'>): FrameLimits => ({
  messages: eventsPerSecond + eventsBurst + strikes,
  control: MAX_CONTROL_FRAMES,
});

export class FrameBudget {
  private messages = 0;
  private control = 0;
  /** The second in which the counts began. A small integer: it needs no heap object of its own. */
  private second: number;

  constructor(clock: Clock) {
    this.second = secondOf(clock);
  }

  /** @returns whether the message is within its limit. */
  takeMessage({ messages }: FrameLimits, clock: Clock): boolean {
    this.messages += 1;
    // The clock is read only above the limit: below it, a frame costs one addition.
    if (this.messages <= messages) return true;
    if (!this.restart(clock)) return false;
    this.messages = 1;
    return true;
  }

  /** @returns whether the control frame is within its limit. */
  takeControl({ control }: FrameLimits, clock: Clock): boolean {
    this.control += 1;
    if (this.control <= control) return true;
    if (!this.restart(clock)) return false;
    this.control = 1;
    return true;
  }

  /** Resets the counts, unless they began in this very second. */
  private restart(clock: Clock): boolean {
    const second = secondOf(clock);
    if (second === this.second) return false;
    this.second = second;
    this.messages = 0;
    this.control = 0;
    return true;
  }
}

const secondOf = (clock: Clock): number => Math.floor(clock.monotonic() / 1000);
