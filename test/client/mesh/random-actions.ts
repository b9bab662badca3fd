/** Members do whatever they can do, in a bad network; in the end the network is good, and all must be well. */

import { later } from './counters.ts';
import { FakeRooms, until } from './fake-rooms.ts';
import { chance } from './signal-loss.ts';
import { close, type Side, sideOf, still } from './two-sides.ts';

const NAMES = ['one', 'two', 'three'];

/** @returns what was done, if all was not well in the end. */
export async function randomActions(seed: number, steps: number): Promise<string[]> {
  const random = chance(seed);
  const world = new FakeRooms();
  const sides = new Map<string, Side>();
  const done: string[] = [];
  const screen = still();
  world.network = ({ deliver }) => {
    if (random() < 0.05) return;
    for (let copies = random() * 2; copies > 0; copies -= 1) void later(random() * 60).then(deliver);
  };
  const acts: Record<string, (name: string) => void> = {
    join: (name) => !sides.has(name) && sides.set(name, sideOf(name, world.join(name))),
    leave: (name) => sides.delete(name) && world.leave(name),
    reload: (name) => {
      const old = sides.get(name);
      if (old === undefined) return;
      old.mesh.close();
      sides.set(name, sideOf(name, world.reload(name)));
    },
    blink: (name) => sides.has(name) && world.blink(name),
    away: (name) => sides.has(name) && world.set(name, 'away'),
    rejoin: (name) => sides.has(name) && world.rejoin(name),
    share: (name) => sides.get(name)?.mesh.share(screen),
    unshare: (name) => sides.get(name)?.mesh.share(null),
    recall: (name) => {
      const { room } = sides.get(name) ?? {};
      if (room === undefined) return;
      sides.get(name)?.mesh.close();
      sides.set(name, sideOf(name, room));
    },
  };
  for (const name of NAMES) acts['join']?.(name);
  const kinds = Object.keys(acts);
  for (let step = 0; step < steps; step += 1) {
    const [kind = '', name = ''] = [
      kinds[Math.floor(random() * kinds.length)],
      NAMES[Math.floor(random() * NAMES.length)],
    ];
    done.push(`${kind} ${name}`);
    acts[kind]?.(name);
    await later(random() * 150);
  }
  world.network = ({ deliver }) => deliver();
  for (const name of NAMES) {
    acts['join']?.(name);
    if (world.members.some(({ userId, state }) => userId === name && state === 'away')) acts['blink']?.(name);
  }
  const all = (): Side[] => [...sides.values()];
  const peers = () => all().flatMap(({ mesh }) => [...mesh.peers.values()]);
  try {
    await until(
      'all connected',
      () => peers().length === 6 && peers().every(({ state, canSend }) => state === 'connected' && canSend),
    );
    for (const { mesh } of all()) mesh.share(screen);
    await until('all see all screens', () => peers().every((peer) => peer.screen !== null));
    for (const { mesh } of all()) mesh.share(null);
    await until('no screens', () => peers().every((peer) => peer.screen === null));
    return [];
  } catch (error) {
    const states = all().flatMap(({ name, mesh }) =>
      [...mesh.peers.values()].map(
        ({ userId, state, screen }) => `${name} with ${userId}: ${state} ${screen?.getTracks().length}`,
      ),
    );
    return [`${seed}: ${String(error)}`, ...done, ...states];
  } finally {
    close(...all());
  }
}
