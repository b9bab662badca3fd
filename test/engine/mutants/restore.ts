/** Faults in what a node restores. */
import type { Mutant } from './mutant.ts';

export const restoreMutants: readonly Mutant[] = [
  {
    name: 'an older copy replaces newer settings',
    file: 'restore',
    from: 'room.leapedTo and copy_rev > room.leapedTo',
    to: 'room.leapedTo',
    caughtBy: 'of several copies the greatest revision has the settings, and every ban counts',
  },
  {
    name: 'a restored seat replaces one of a later session',
    file: 'restore',
    from: 'stored and stored.session > seat.session',
    to: 'false',
    caughtBy: 'a later session keeps its seat, and a seat that was taken anew is not removed',
  },
  {
    name: 'a room that has ended is brought back',
    file: 'epoch',
    from: "remember(room.ref, '')",
    to: 'remember(room.ref, room.code)',
    caughtBy: 'a room that has ended since it was restored is not brought back by another node',
  },
  {
    name: 'the next node does not find a room under its new code',
    file: 'restore',
    from: 'load_by_code(moved_to or command.code)',
    to: 'load_by_code(command.code)',
    caughtBy: 'a room whose code another one has gets a new code, where all nodes find it',
  },
  {
    name: 'a code that is in use begins to cool',
    file: 'cool',
    from: "redis.call('SETBIT', TAKEN, index_of(code), 1) == 0",
    to: "redis.call('SETBIT', TAKEN, index_of(code), 1) >= 0",
    caughtBy: 'codes that a node has seen released cool, if they are free',
  },
];
