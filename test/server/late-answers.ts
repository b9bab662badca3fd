/** Makes Redis carry out one command of a node and answer it too late. */
import { loadScripts } from '../../src/engine/redis/scripts.ts';
import type { Command } from '../../src/room/commands.ts';
import type { TcpProxy } from '../support/proxy.ts';

const SCRIPTS = loadScripts();

/** Freezes the link once that many commands of this kind have passed it. Resolves then: nothing comes back until `thaw`. */
export function freezeAfter(link: TcpProxy, kind: Command['kind'], count = 1): Promise<void> {
  const { sha } = SCRIPTS[kind];
  let left = count;
  return new Promise((resolve) => {
    const stop = link.onUp((chunk) => {
      if (chunk.includes(sha)) left -= 1;
      if (left > 0) return;
      stop();
      // The piece is written after its listeners have seen it.
      link.freeze();
      resolve();
    });
  });
}
