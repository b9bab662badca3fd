/** Glare: both sides offer at the same moment, many times. */
import { later } from './counters.ts';
import { FakeServer, until } from './fake-server.ts';
import { close, connected, still, twoSides } from './two-sides.ts';

export interface Glare {
  readonly met: number;
  /** The errors of the others. */
  readonly stuck: string[];
  readonly slowestMs: number;
}

/** Pairs that begin at the same moment, and share a screen at the same moment once they are connected. */
export async function glare(from: number, to: number, parallel: number): Promise<Glare> {
  const screen = still();
  const times: number[] = [];
  const stuck: string[] = [];
  let next = from;
  const work = async (): Promise<void> => {
    while (next < to) {
      const number = next;
      next += 1;
      const start = performance.now();
      try {
        await meet(number, screen);
        times.push(performance.now() - start);
      } catch (error) {
        stuck.push(`${number}: ${String(error)}`);
      }
    }
  };
  await Promise.all(Array.from({ length: parallel }, work));
  return { met: times.length, stuck, slowestMs: Math.round(Math.max(...times)) };
}

async function meet(number: number, screen: MediaStream): Promise<void> {
  const { early, late } = twoSides(delayedNetwork(number), {}, number % 2 === 0 ? 'early' : 'late');
  try {
    await connected(early, late);
    for (const side of number % 4 < 2 ? [early, late] : [late, early]) side.mesh.share(screen);
    await until('screens', () => early.peer.screen !== null && late.peer.screen !== null);
  } finally {
    close(early, late);
  }
}

/** Signals to one member keep their order, as with a real server; those to two members do not. */
function delayedNetwork(number: number): FakeServer {
  const server = new FakeServer();
  const ways = new Map<string, Promise<void>>();
  server.network = ({ to, deliver }) => {
    const before = ways.get(to) ?? Promise.resolve();
    const ms = (number * 7 + server.log.length * 13) % 6;
    ways.set(to, before.then(() => later(ms)).then(deliver));
  };
  return server;
}
