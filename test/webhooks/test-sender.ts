/** A sender to one receiver, which may be at a private address. Its deadline is not reached. */
import { systemClock } from '../../src/support/clock.ts';
import { createEndpoint } from '../../src/webhooks/endpoint.ts';
import { createSender, type SenderDeps } from '../../src/webhooks/sender.ts';

export function testSender(url: string, deps: Partial<SenderDeps> = {}) {
  const sender = createSender({
    endpoint: createEndpoint(url),
    keys: [Buffer.alloc(32)],
    allowPrivate: true,
    timeoutMs: 30_000,
    clock: systemClock,
    time: deps.clock ?? systemClock,
    ...deps,
  });
  return { ...sender, [Symbol.dispose]: () => sender.close() };
}
