/** Free, occupied and cooling codes add up to the pool in every audit, and its keys do not contradict each other. */
import type { Law } from './run.ts';

export const poolConserved: Law = ({ audits }) =>
  audits.flatMap(({ at, free, occupied, cooling, total, disagreements }) => {
    const sum = free + occupied + cooling;
    return [
      ...(sum === total ? [] : [`${free} free + ${occupied} occupied + ${cooling} cooling = ${sum}, not ${total}`]),
      ...disagreements.slice(0, 5),
    ].map((text) => ({ at, text }));
  });
