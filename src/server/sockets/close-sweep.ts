/**
 * Ends connections that do not finish closing. Engine.IO closes a connection when its last packet has been written: that of
 * a client that does not read stays open until it misses a ping, and holds a shutdown for as long.
 */
import type { Clock, Stop } from '../../support/clock.ts';
import { type EngineConnection, terminate } from '../limits/terminate.ts';
import { CLOSE_MS } from './guarded-websocket.ts';

/** One timer for all connections, because Engine.IO has no event for the begin of a close. */
export function sweepClosing(connections: Readonly<Record<string, EngineConnection>>, clock: Clock): Stop {
  let closing = new Set<EngineConnection>();
  return clock.every(CLOSE_MS, () => {
    const stillClosing = new Set<EngineConnection>();
    // Without an array of all connections.
    for (const id in connections) {
      const connection = connections[id];
      if (connection?.readyState !== 'closing') continue;
      if (closing.has(connection)) terminate(connection);
      else stillClosing.add(connection);
    }
    closing = stillClosing;
  });
}
