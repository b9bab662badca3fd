/** Makes Redis carry out one command of a node and answer it too late. */
import { loadScripts } from '../../src/engine/redis/scripts.ts';
import type { Command } from '../../src/room/commands.ts';
import type { TcpProxy } from '../support/proxy.ts';

const SCRIPTS = loadScripts();

/** Freezes the link once the next command of this kind has passed it. Resolves then: nothing comes back until `thaw`. */
export function freezeAfter(link: TcpProxy, kind: Command['kind']): Promise<void> {
  const { sha } = SCRIPTS[kind];
  return new Promise((resolve) => {
    const stop = link.onUp((chunk) => {
      if (!chunk.includes(sha)) return;
      stop();
      // The piece is written after its listeners have seen it.
      link.freeze();
      resolve();
    });
  });
}
