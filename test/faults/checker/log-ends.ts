/** Where the logs end: a client whose process was killed says nothing more, and owes nothing more. */
import type { Run } from './run.ts';

/** The clients of one process have names that begin alike, up to the dash. */
const processOf = (client: string): string => client.split('-')[0] ?? client;

/** @returns the instant of the last entry of the process of a client. */
export function logEndsOf(run: Run): (client: string) => number {
  const ends = new Map<string, number>();
  for (const { client, at } of run.clients) ends.set(processOf(client), at);
  return (client) => ends.get(processOf(client)) ?? 0;
}
