/** What there is to tell about one connection, from the browser's own counters. */
import type { Peer } from '../../src/client/index.ts';
import type { PeerReport } from './surface.ts';

export async function report(peer: Peer): Promise<PeerReport> {
  const { route, framesDecoded, bytesReceived } = await peer.stats();
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
