/**
 * Calls over a TURN server only (`/?relay=only`): with the credentials that the server issues, and with credentials that
 * the TURN server refuses.
 */
import { describe, expect, test } from 'vitest';
import { systemClock } from '../../src/support/clock.ts';
import { startCoturn } from '../support/coturn.ts';
import { type Caller, type Harness, openHarness } from './harness.ts';

const SECRET = 'the secret of the relay and its users';
const HOUR = 60 * 60_000;

describe.each(['udp', 'tcp'] as const)('over %s', (transport) => {
  test('a call connects through the relay', async () => {
    await using coturn = await startCoturn({ secrets: [SECRET] });
    await using harness = await openHarness({ turnUrls: [coturn.url(transport)], turnSecrets: [SECRET] });
    const [ada, bob] = await meet(harness);
    await Promise.all([ada.hasMedia(1), bob.hasMedia(1)]);
    for (const caller of [ada, bob]) {
      expect(await caller.peers()).toMatchObject([{ connectionState: 'connected', route: 'relay' }]);
    }
    expect([...ada.person.complaints, ...bob.person.complaints]).toEqual([]);
  });
});

// The browser takes its time to give a relay up: these three wait side by side.
test.concurrent('credentials signed with another secret make no call, and the page says why', async () => {
  await using coturn = await startCoturn({ secrets: [SECRET] });
  await using harness = await openHarness({
    turnUrls: [coturn.url('udp')],
    turnSecrets: ['a secret that it does not know'],
  });
  await isRefused(await meet(harness));
});

test.concurrent('expired credentials make no call, and the page says why', async () => {
  await using coturn = await startCoturn({ secrets: [SECRET] });
  const twoHoursAgo = { ...systemClock, now: () => systemClock.now() - 2 * HOUR };
  await using harness = await openHarness(
    { turnUrls: [coturn.url('udp')], turnSecrets: [SECRET], turnTtlMs: HOUR },
    { clock: twoHoursAgo },
  );
  await isRefused(await meet(harness));
});

test.concurrent('a server without a relay makes no call, and the page says why', async () => {
  await using harness = await openHarness();
  const [ada] = await meet(harness);
  await ada.read(/this server offers none/);
});

async function meet(harness: Harness): Promise<[Caller, Caller]> {
  const ada = await harness.caller({ name: 'Ada', search: 'relay=only' });
  const bob = await harness.caller({ name: 'Bob', search: 'relay=only' });
  await bob.type(await ada.create());
  await bob.press('Join');
  await bob.see('#call');
  return [ada, bob];
}

async function isRefused(callers: readonly Caller[]): Promise<void> {
  await Promise.all(callers.map((caller) => caller.read(/^The relay server does not accept the credentials/)));
  for (const caller of callers) {
    const [peer] = await caller.peers();
    expect(peer?.connectionState).not.toBe('connected');
    expect(peer?.framesDecoded).toBe(0);
  }
}
