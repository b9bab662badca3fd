/** The faults of the run that is part of the tests: every one that the server is known to survive. */
import { faultsNamed } from './all.ts';
import type { Fault } from './fault.ts';

const NAMES = [
  'node-kill',
  'node-terminate',
  'node-freeze-within-the-lease',
  'clock-set-by-an-hour',
  'cut-redis',
  'cut-redis-past-the-lease',
  'blackhole-redis',
  'delay-redis',
  'half-open-connections-redis',
  'lose-messages-of-redis',
  'cut-database',
  'blackhole-database',
  'delay-database',
  'half-open-connections-database',
  'cut-clients',
  'blackhole-clients',
  'delay-clients',
  'half-open-connections-clients',
  'redis-drop-connections-of-commands',
  'redis-drop-connections-of-subscribers',
  'redis-scripts-forgotten',
  'redis-stall',
  'redis-pause-of-clients',
  'redis-refuse-writes-for-a-full-disk',
  'redis-flush-all',
  'redis-restart-empty',
  'database-freeze',
  'clients-kill-half-of-them',
] as const;

export const shortFaults = (): Fault[] => faultsNamed(NAMES);
