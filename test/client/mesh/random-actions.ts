/** Members act at random in a bad network; at the end the network is good, and all must be connected. */

import { later } from './counters.ts';
import { FakeServer, until } from './fake-server.ts';
import { seededRandom } from './signal-loss.ts';
import { close, type Side, sideOf, still } from './two-sides.ts';

const NAMES = ['one', 'two', 'three'];

/** @returns the actions and the final states if not all are connected in the end. */
export async function randomActions(seed: number, steps: number): Promise<string[]> {
  const random = seededRandom(seed);
  const server = new FakeServer();
  const sides = new Map<string, Side>();
  const done: string[] = [];
  const screen = still();
  server.network = ({ deliver }) => {
    if (random() < 0.05) return;
    for (let copies = random() * 2; copies > 0; copies -= 1) void later(random() * 60).then(deliver);
  };
  const actions: Record<string, (name: string) => void> = {
    join: (name) => !sides.has(name) && sides.set(name, sideOf(name, server.join(name))),
    leave: (name) => sides.delete(name) && server.leave(name),
    reload: (name) => {
      const old = sides.get(name);
      if (old === undefined) return;
      old.mesh.close();
      sides.set(name, sideOf(name, server.reload(name)));
    },
    blink: (name) => sides.has(name) && server.blink(name),
    away: (name) => sides.has(name) && server.set(name, 'away'),
    rejoin: (name) => sides.has(name) && server.rejoin(name),
    share: (name) => sides.get(name)?.mesh.share(screen),
    unshare: (name) => sides.get(name)?.mesh.share(null),
    recall: (name) => {
      const { room } = sides.get(name) ?? {};
      if (room === undefined) return;
      sides.get(name)?.mesh.close();
      sides.set(name, sideOf(name, room));
    },
  };
  for (const name of NAMES) actions['join']?.(name);
  const kinds = Object.keys(actions);
  for (let step = 0; step < steps; step += 1) {
    const [kind = '', name = ''] = [
      kinds[Math.floor(random() * kinds.length)],
      NAMES[Math.floor(random() * NAMES.length)],
    ];
    done.push(`${kind} ${name}`);
    actions[kind]?.(name);
    await later(random() * 150);
  }
  server.network = ({ deliver }) => deliver();
  for (const name of NAMES) {
    actions['join']?.(name);
    if (server.members.some(({ userId, state }) => userId === name && state === 'away')) actions['blink']?.(name);
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
