/**
 * How many signals this node has relayed, for the call records. Relaying raises a number of the room, and nothing else; it
 * is handed on from time to time, and when the room is none of this node's any more.
 */
import type { Stop } from '../../support/clock.ts';
import type { House } from '../context.ts';

export interface SignalCount {
  /** Hands on what has not been yet, and ends. */
  readonly stop: Stop;
}

type Parts = Pick<House, 'roster' | 'clock' | 'options'> & { readonly calls: House['calls'] | undefined };

export function startSignalCount({ roster, calls, clock, options }: Parts): SignalCount {
  if (calls === undefined) return { stop: () => {} };
  const handOn = () => {
    for (const room of roster.held()) {
      if (room.signals > 0) calls.countSignals(room.ref, room.signals);
      room.signals = 0;
    }
  };
  const stop = clock.every(options.tickMs, handOn);
  return {
    stop() {
      stop();
      handOn();
    },
  };
}
