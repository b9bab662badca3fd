/** The faults of the run that is part of the tests: every one that the server is known to survive. */
import { faultsNamed } from './all.ts';
import type { Fault } from './fault.ts';

const NAMES = [
  'node-kill',
  'node-terminate',
  'clock-set-by-an-hour',
  'cut-redis',
  'delay-redis',
  'cut-database',
  'blackhole-database',
  'delay-database',
  'cut-clients',
  'delay-clients',
  'blackhole-clients',
  'half-open-connections-clients',
  'half-open-connections-redis',
  'half-open-connections-database',
  'redis-drop-connections-of-commands',
  'redis-drop-connections-of-subscribers',
  'redis-scripts-forgotten',
  'database-freeze',
  'clients-kill-half-of-them',
] as const;

export const shortFaults = (): Fault[] => faultsNamed(NAMES);
