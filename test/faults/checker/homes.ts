/** On which node a user was, by the welcomes of its connections. */
import { type EntryOf, entriesOf, listOf, type Run } from './run.ts';

export interface Homes {
  /** Every node that the user was on at some time between the two instants. */
  nodesIn(userId: string, begin: number, end: number): string[];
}

export function homesOf(run: Run): Homes {
  const welcomes = new Map<string, EntryOf<'welcomed'>[]>();
  for (const entry of entriesOf(run, 'welcomed')) listOf(welcomes, entry.userId).push(entry);
  return {
    nodesIn(userId, begin, end) {
      const all = welcomes.get(userId) ?? [];
      const since = all.findLastIndex(({ at }) => at <= begin);
      return [...new Set(all.slice(Math.max(since, 0)).flatMap(({ at, nodeId }) => (at <= end ? [nodeId] : [])))];
    },
  };
}
