/** The entry of one peer in the demo API, from the browser's counters. */
import type { Peer, PeerStats } from '../../src/client/index.ts';
import type { PeerReport } from './demo-api.ts';

export function reportOf(peer: Peer, { route, framesDecoded, bytesReceived }: PeerStats): PeerReport {
  const { userId, state, canSend, screen } = peer;
  return {
    userId,
    connectionState: state,
    route,
    canSend,
    sharesScreen: screen !== null,
    framesDecoded,
    bytesReceived,
  };
}
