/** The log of a worker: one JSON line for each entry, written at once, so that it outlives a worker that is killed. */
import { openSync, writeSync } from 'node:fs';
import type { ClientEntry } from '../checker/run.ts';

/** Milliseconds of the clock that all processes of a machine share. */
export const machineMs = (): number => Number(process.hrtime.bigint() / 1_000n) / 1_000;

type Told = ClientEntry extends infer Entry ? (Entry extends unknown ? Omit<Entry, 'at' | 'client'> : never) : never;

export interface Journal {
  write(client: string, entry: Told): void;
}

export function openJournal(path: string): Journal {
  const file = openSync(path, 'a');
  return {
    write: (client, entry) => void writeSync(file, `${JSON.stringify({ at: machineMs(), client, ...entry })}\n`),
  };
}
