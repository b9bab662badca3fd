/** What was refused, or sent long ago, is not delivered later: unless the way to the client itself stood still. */
import { homesOf } from './homes.ts';
import { type EntryOf, entriesOf, type Law } from './run.ts';

const LATE_MS = 5_000;

export const signalsNotStale: Law = (run) => {
  const homes = homesOf(run);
  const sent = new Map<string, EntryOf<'called'>>();
  const outcome = new Map<string, EntryOf<'settled'>>();
  for (const entry of entriesOf(run, 'settled')) outcome.set(`${entry.client} ${entry.call}`, entry);
  for (const entry of entriesOf(run, 'called'))
    if (entry.signal) sent.set(`${entry.userId} ${entry.signal.to} ${entry.signal.n}`, entry);
  return entriesOf(run, 'heard').flatMap(({ at, from, signal }) => {
    const call = sent.get(`${from} ${signal.to} ${signal.n}`);
    if (call === undefined) return [];
    const settled = outcome.get(`${call.client} ${call.call}`);
    const refusedMs = settled && settled.error !== null ? at - settled.at : 0;
    const lateMs = at - call.at;
    if (refusedMs < LATE_MS && lateMs < 2 * LATE_MS) return [];
    const stood = homes.nodesIn(signal.to, call.at, at).flatMap((node) => [node, `${node} clients`]);
    if (run.faults.some(({ target, from: begun, until }) => stood.includes(target) && begun < at && until > call.at))
      return [];
    const why = refusedMs > 0 ? ` and ${Math.round(refusedMs)} ms after its refusal (${settled?.error})` : '';
    return [{ at, text: `${signal.to} received signal ${signal.n} of ${from} ${Math.round(lateMs)} ms late${why}` }];
  });
};
