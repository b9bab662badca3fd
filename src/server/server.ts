/** Starts a server, on a port of its own or in a server of somebody else's. No globals: two of them live in one process. */
import { assemble } from './compose.ts';
import { type Door, openDoor, optionsWithin, type Place } from './hosting/embed.ts';
import { listen } from './hosting/listen.ts';
import type { PartialOptions } from './options/options.ts';
import { takeBack } from './shutdown.ts';
import type { EmbeddedSignalbox, Fittings, SignalboxServer } from './signalbox.ts';

export { checkFittings } from './dependencies.ts';
export type { EmbeddedSignalbox, Fittings, Signalbox, SignalboxServer } from './signalbox.ts';

/**
 * Starts a server; resolves when it listens.
 *
 * @throws OptionError when an option makes no sense.
 */
export async function startServer(given: PartialOptions, fittings: Fittings): Promise<SignalboxServer> {
  const { signalbox, app } = await assemble(given, fittings);
  try {
    return { ...signalbox, ...(await listen(app, signalbox.options)) };
  } catch (error) {
    await takeBack(() => signalbox.close(), fittings.log);
    throw error;
  }
}

/**
 * Starts a server in that of somebody else; resolves when it answers what it is handed.
 *
 * @throws OptionError when an option makes no sense, or none there.
 */
export async function embedServer(given: PartialOptions, fittings: Fittings, place: Place): Promise<EmbeddedSignalbox> {
  const { signalbox, app, routes } = await assemble(optionsWithin(given, place), fittings);
  let door: Door | undefined;
  // Until they have been told, clients that come are refused with a reason.
  const close = async () => {
    try {
      await signalbox.close();
    } finally {
      door?.shut();
    }
  };
  try {
    await app.ready();
    door = openDoor(place, app.server, routes, signalbox.options, close);
    return { ...signalbox, handle: door.handle, close };
  } catch (error) {
    await takeBack(close, fittings.log);
    throw error;
  }
}
