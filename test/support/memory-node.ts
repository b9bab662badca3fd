/** One node in this process, on memory: it needs no service. */
import { createServer } from '../../src/index.ts';
import type { ServerDependencies } from '../../src/server/dependencies.ts';
import type { PartialOptions } from '../../src/server/options/options.ts';
import type { SignalboxServer } from '../../src/server/signalbox.ts';
import { silentLog } from '../../src/support/log.ts';

/** Tests connect hundreds of times from one address, and ask as fast as they can. */
const TEST_OPTIONS: PartialOptions = {
  host: '127.0.0.1',
  port: 0,
  demo: false,
  connectionsBurst: 100_000,
  eventsPerSecond: 100_000,
  eventsBurst: 100_000,
};

export interface MemoryNode extends AsyncDisposable {
  readonly servers: readonly [SignalboxServer];
  /** Its address, whichever node of a cluster is asked for: tests that know nothing of the engine name one. */
  url(node?: number): string;
}

export async function startMemoryNode(
  options: PartialOptions = {},
  dependencies: Partial<ServerDependencies> = {},
): Promise<MemoryNode> {
  const server = await startNode(options, dependencies);
  return {
    servers: [server],
    url: () => `http://127.0.0.1:${server.port}`,
    [Symbol.asyncDispose]: () => server.close(),
  };
}

/** With limits that tests do not meet unless they set them. */
export function startNode(
  options: PartialOptions,
  dependencies: Partial<ServerDependencies> = {},
): Promise<SignalboxServer> {
  return createServer({ ...TEST_OPTIONS, ...options }, { log: silentLog, ...dependencies });
}
