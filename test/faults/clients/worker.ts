/** A process full of clients. It is told what to do by its parent, and ends with it. */
import { seeded } from '../seeded.ts';
import { Actor, type Board } from './actor.ts';
import { openJournal } from './journal.ts';
import { tapTheWire } from './wire-tap.ts';

export interface Start {
  readonly url: string;
  readonly journal: string;
  readonly seed: number;
  /** The beginning of the names of the clients: no other worker has it. */
  readonly name: string;
  readonly clients: number;
  readonly paceMs: number;
}

export type Order =
  | { readonly order: 'start'; readonly start: Start }
  | { readonly order: 'stand'; readonly probe: number }
  | { readonly order: 'rest' | 'close' };

const actors: Actor[] = [];

process.on('disconnect', () => process.exit());
process.on('message', (order: Order) => {
  void follow(order).then(() => process.send?.('done'));
});

async function follow(order: Order): Promise<void> {
  if (order.order === 'start') begin(order.start);
  else if (order.order === 'stand') for (const actor of actors) actor.stand(order.probe);
  else await Promise.all(actors.map((actor) => (order.order === 'rest' ? actor.rest() : actor.close())));
}

function begin({ url, journal: path, seed, name, clients, paceMs }: Start): void {
  const journal = openJournal(path);
  const { cut } = tapTheWire(journal);
  const random = seeded(seed);
  const board: Board = new Map();
  for (let number = 0; number < clients; number += 1) {
    const actor = new Actor(`${name}${number}`, random.fork(), { url, journal, board, cut, paceMs });
    actors.push(actor);
    actor.start();
  }
}
