/** At quiescence no code leads to two live rooms: what clients hold and what Redis holds is taken together. */
import { entriesOf, type Law } from './run.ts';

export const oneRefPerCode: Law = (run) => {
  const last = Math.max(...run.samples.map(({ probe }) => probe));
  const refs = new Map<string, Set<string>>();
  const held = [
    ...run.samples.filter(({ probe }) => probe === last).flatMap(({ rooms }) => rooms),
    ...entriesOf(run, 'stands').flatMap(({ probe, state, room }) =>
      probe === last && state === 'online' && room !== null ? [room] : [],
    ),
  ];
  for (const { code, ref } of held) refs.set(code, (refs.get(code) ?? new Set()).add(ref));
  const at = run.samples.find(({ probe }) => probe === last)?.at ?? 0;
  return [...refs].flatMap(([code, all]) =>
    all.size > 1 ? [{ at, text: `code ${code} is held by ${[...all].join(' and ')}` }] : [],
  );
};
