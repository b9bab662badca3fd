/** Starts a server, on a port of its own or in a server of somebody else's. No globals: two of them live in one process. */
import { composeServer } from './compose.ts';
import { type EmbeddedServer, type EmbedTarget, embed, embeddedOptions } from './hosting/embed.ts';
import { listen } from './hosting/listen.ts';
import type { PartialOptions } from './options/options.ts';
import { closeAfterFailure } from './shutdown.ts';
import type { EmbeddedSignalbox, ServerDependencies, SignalboxServer } from './signalbox.ts';

export { checkDependencies } from './dependencies.ts';
export type { EmbeddedSignalbox, ServerDependencies, Signalbox, SignalboxServer } from './signalbox.ts';

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
 * Starts a server in that of somebody else; resolves when it answers what it is handed.
 *
 * @throws OptionError when an option makes no sense, or none there.
 */
export async function embedServer(
  given: PartialOptions,
  dependencies: ServerDependencies,
  place: EmbedTarget,
): Promise<EmbeddedSignalbox> {
  const { signalbox, app, routes } = await composeServer(embeddedOptions(given, place), dependencies);
  let door: EmbeddedServer | undefined;
  // Until they have been told, clients that come are refused with a reason.
  const close = async () => {
    try {
      await signalbox.close();
    } finally {
      door?.stop();
    }
  };
  try {
    await app.ready();
    door = embed(place, app.server, routes, signalbox.options, close);
    return { ...signalbox, handle: door.handle, close };
  } catch (error) {
    await closeAfterFailure(close, dependencies.log);
    throw error;
  }
}
