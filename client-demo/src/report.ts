/** What there is to tell about one connection, from the browser's own counters. */
import type { UserId } from '../../src/protocol/index.ts';
import type { Pair } from './pair.ts';
import type { PeerReport } from './surface.ts';

export async function report(userId: UserId, pair: Pair): Promise<PeerReport> {
  let framesDecoded = 0;
  let bytesReceived = 0;
  for (const entry of (await pair.stats()).values()) {
    if (entry.type !== 'inbound-rtp') continue;
    framesDecoded += Number(entry.framesDecoded ?? 0);
    bytesReceived += Number(entry.bytesReceived ?? 0);
  }
  return { userId, connectionState: pair.state, framesDecoded, bytesReceived };
}
