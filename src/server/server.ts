/** Starts a server, on a port of its own or inside another HTTP server. No globals: two of them run in one process. */
import { composeServer } from './compose.ts';
import type { ServerDependencies } from './dependencies.ts';
import { type EmbeddedServer, type EmbedTarget, embed, embeddedOptions } from './hosting/embed.ts';
import { listen } from './hosting/listen.ts';
import type { PartialOptions } from './options/options.ts';
import { closeAfterFailure } from './shutdown.ts';
import type { CloseOptions, EmbeddedSignalbox, SignalboxServer } from './signalbox.ts';

/**
 * Starts a server; resolves when it listens.
 *
 * @throws OptionError when an option makes no sense.
 */
export async function startServer(given: PartialOptions, dependencies: ServerDependencies): Promise<SignalboxServer> {
  const { signalbox, app } = await composeServer(given, dependencies);
  try {
    return { ...signalbox, ...(await listen(app, signalbox.options)) };
  } catch (error) {
    await closeAfterFailure(() => signalbox.close(), dependencies.log);
    throw error;
  }
}

/**
 * Starts a server inside another one; resolves when it answers the requests that it is handed.
 *
 * @throws OptionError when an option makes no sense, or has no meaning in an embedded server.
 */
export async function embedServer(
  given: PartialOptions,
  dependencies: ServerDependencies,
  target: EmbedTarget,
): Promise<EmbeddedSignalbox> {
  const { signalbox, app, routes } = await composeServer(embeddedOptions(given, target), dependencies);
  let embedded: EmbeddedServer | undefined;
  // Detached last: until the drain is over, clients that arrive are refused with a reason.
  const close = async (how?: CloseOptions) => {
    try {
      await signalbox.close(how);
    } finally {
      embedded?.detach();
    }
  };
  try {
    await app.ready();
    embedded = embed(target, app.server, routes, signalbox.options, close);
    return { ...signalbox, handle: embedded.handle, close };
  } catch (error) {
    await closeAfterFailure(close, dependencies.log);
    throw error;
  }
}
