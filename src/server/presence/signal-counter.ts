/**
 * How many signals this node has relayed, for the call records. Relaying raises a number of the room, and nothing else; it
 * is handed on from time to time, and when the room is none of this node's any more.
 */
import type { Stop } from '../../support/clock.ts';
import type { ServerContext } from '../context.ts';

export interface SignalCounter {
  /** Hands on what has not been yet, and ends. */
  readonly stop: Stop;
}

type SignalCounterDeps = Pick<ServerContext, 'registry' | 'clock' | 'options'> & {
  readonly calls: ServerContext['calls'] | undefined;
};

export function startSignalCounter({ registry, calls, clock, options }: SignalCounterDeps): SignalCounter {
  if (calls === undefined) return { stop: () => {} };
  const flush = () => {
    for (const room of registry.localRooms()) {
      if (room.signals > 0) calls.countSignals(room.ref, room.signals);
      room.signals = 0;
    }
  };
  const stop = clock.every(options.tickMs, flush);
  return {
    stop() {
      stop();
      flush();
    },
  };
}
