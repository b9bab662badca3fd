/** What happens to the database and to the clients. */
import type { Fault } from './fault.ts';

export const otherFaults: readonly Fault[] = [
  {
    name: 'freeze',
    targets: ['database'],
    lasts: [0.2, 0.8],
    async begin({ database }) {
      database.freeze();
      return () => database.thaw();
    },
  },
  {
    name: 'kill',
    targets: ['database'],
    lasts: [0.2, 0.6],
    async begin({ database }) {
      await database.kill();
      return () => database.start();
    },
  },
  {
    name: 'kill half of them',
    targets: ['clients'],
    lasts: [0.1, 0.2],
    async begin(stage) {
      await stage.workers.shift()?.kill();
      return () => stage.populate();
    },
  },
];
