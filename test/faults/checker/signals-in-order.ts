/** Of one sender's signals to one receiver none comes twice, and none before an earlier one. */
import { entriesOf, type Law } from './run.ts';

export const signalsInOrder: Law = (run) => {
  const last = new Map<string, number>();
  return entriesOf(run, 'heard').flatMap(({ at, from, signal: { n, to } }) => {
    const pair = `${from} ${to}`;
    const before = last.get(pair) ?? 0;
    last.set(pair, Math.max(before, n));
    if (n > before) return [];
    const how = n === before ? `received signal ${n} twice` : `received signal ${n} after ${before}`;
    return [{ at, text: `${to} ${how} from ${from}` }];
  });
};
