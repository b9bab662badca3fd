/** The shutdown ends all that was started, also when a start fails half-way and when a part fails to end. */
import { once } from 'node:events';
import { createServer as createNetServer } from 'node:net';
import { expect, test } from 'vitest';
import { createMemoryEngine } from '../../src/engine/memory.ts';
import { createServer, OptionError, type ServerDependencies } from '../../src/index.ts';
import { createRandomReferences } from '../../src/reference/random.ts';
import { createShutdown } from '../../src/server/shutdown.ts';
import type { Clock } from '../../src/support/clock.ts';
import { createLog } from '../../src/support/log.ts';
import { systemRandom } from '../../src/support/random.ts';
import { connectClient } from '../support/client.ts';
import { manualClock } from '../support/manual-clock.ts';

const LOCAL = { host: '127.0.0.1', port: 0, demo: false };

/** A clock that counts the running timers, and fails to start the repeating timer of that number. */
function countedClock(refused = Number.POSITIVE_INFINITY) {
  const inner = manualClock();
  const going = new Set<object>();
  let begun = 0;
  const clock: Clock = {
    ...inner,
    every(ms, call) {
      begun += 1;
      if (begun === refused) throw new Error('no more timers');
      const stop = inner.every(ms, call);
      const timer = {};
      going.add(timer);
      return () => {
        going.delete(timer);
        stop();
      };
    },
  };
  return { clock, going, begun: () => begun, advance: (ms: number) => inner.advance(ms) };
}

/** Dependencies that record the order in which they are closed. */
function recordingParts(clock: Clock, failing: readonly string[] = []) {
  const ended: string[] = [];
  const end =
    (name: string, really: () => Promise<void> = async () => {}) =>
    async () => {
      ended.push(name);
      await really();
      if (failing.includes(name)) throw new Error(`${name} does not end`);
    };
  const dependencies: Partial<ServerDependencies> = {
    clock,
    engine(settings) {
      const engine = createMemoryEngine(settings, clock);
      return { ...engine, close: end('engine', () => engine.close()) };
    },
    references: () => ({ ...createRandomReferences(clock, systemRandom), close: end('references') }),
    calls: () => ({
      description: 'these tests',
      countSignals: () => {},
      health: () => ({ state: 'up', since: 0 }),
      lost: async () => ({ events: 0, signals: 0 }),
      list: async () => ({ calls: [], cursor: null }),
      export: async function* () {},
      find: async () => undefined,
      close: end('calls'),
    }),
  };
  return { dependencies, ended };
}

test('the shutdown ends parts in reverse order, once, and each whatever happens to the others', async () => {
  const shutdown = createShutdown();
  const ended: string[] = [];
  for (const name of ['first', 'second', 'third']) {
    shutdown.add(() => {
      ended.push(name);
      if (name !== 'first') throw new Error(name);
    });
  }
  const failed = shutdown.run();
  expect(shutdown.run()).toBe(failed);
  await expect(failed).rejects.toMatchObject({ errors: [{ message: 'third' }, { message: 'second' }] });
  expect(ended).toEqual(['third', 'second', 'first']);
});

test('a start that fails at its end leaves no timer and no part running', async () => {
  const fine = countedClock();
  await (await createServer(LOCAL, recordingParts(fine.clock).dependencies)).close();
  expect(fine.going.size).toBe(0);
  const { clock, going } = countedClock(fine.begun());
  const { dependencies, ended } = recordingParts(clock);
  await expect(createServer(LOCAL, dependencies)).rejects.toThrow('no more timers');
  expect(ended).toEqual(['calls', 'references', 'engine']);
  expect(going.size).toBe(0);
});

test('a failure while a failed start is undone is logged, and the first error is thrown', async () => {
  const { clock } = countedClock();
  const { dependencies, ended } = recordingParts(clock, ['calls']);
  const lines: string[] = [];
  const log = createLog('error', { write: (line) => void lines.push(line) });
  const other = createNetServer().listen(0, '127.0.0.1');
  await once(other, 'listening');
  const address = other.address();
  const port = typeof address === 'object' && address !== null ? address.port : expect.unreachable();
  await expect(createServer({ ...LOCAL, port }, { ...dependencies, log })).rejects.toThrow(
    'is in use; stop the process that listens there',
  );
  other.close();
  expect(ended).toEqual(['calls', 'references', 'engine']);
  expect(lines.join('')).toContain('calls does not end');
});

test('a part that fails to end does not stop the others, and its error is thrown', async () => {
  const { clock, going, advance } = countedClock();
  const { dependencies, ended } = recordingParts(clock, ['calls', 'references']);
  const server = await createServer(LOCAL, dependencies);
  await using ann = await connectClient(server.url);
  const closing = server.close();
  await ann.next('server:drain');
  // The drain looks again and again whether the connections have ended.
  const passing = setInterval(() => advance(100), 5);
  await expect(closing).rejects.toMatchObject({
    errors: [{ message: 'calls does not end' }, { message: 'references does not end' }],
  });
  clearInterval(passing);
  expect(ended).toEqual(['calls', 'references', 'engine']);
  expect(going.size).toBe(0);
  await expect(fetch(`${server.url}/healthz`)).rejects.toThrow();
});

test('an onEvent hook without a feed is refused before anything is started', async () => {
  const { clock, begun } = countedClock();
  const { dependencies, ended } = recordingParts(clock);
  const hooks = { onEvent: () => {} };
  const start = createServer({ ...LOCAL, feedMaxEvents: 0 }, { ...dependencies, hooks });
  await expect(start).rejects.toThrow(OptionError);
  await expect(start).rejects.toThrow(/^feedMaxEvents: /);
  expect([ended, begun()]).toEqual([[], 0]);
});
