/** The meter of connection quality is not changed by reading its counters. */
import { expect, test, vi } from 'vitest';
import { Meter } from '../../client-demo/src/call/meter.ts';
import type { Peer, PeerStats } from '../../src/client/index.ts';

test('a measurement does not depend on how often the counters are read in between', async () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  try {
    let bytesReceived = 0;
    let lossRate = 0;
    // Only what is looked at here.
    const peer = { stats: async () => ({ bytesReceived, lossRate }) as PeerStats } as Peer;
    const meter = new Meter();
    await meter.measure(peer);
    for (let look = 0; look < 100; look += 1) {
      vi.advanceTimersByTime(30);
      bytesReceived += 3_000;
      lossRate = look % 2 === 0 ? 0 : 0.2;
      if (look < 99) await meter.look(peer);
    }
    const { receivedBitsPerSecond, lossRate: measured } = await meter.measure(peer);
    expect(receivedBitsPerSecond).toBeCloseTo(800_000);
    expect(measured).toBeCloseTo(0.1);
  } finally {
    vi.useRealTimers();
  }
});
