/** No process ends that the test did not end, and one that is asked to end does so in time and without an error. */
import type { Law } from './run.ts';

export const noUnexpectedExit: Law = ({ exits }) =>
  exits.flatMap(({ at, process, how, expected }) => (expected ? [] : [{ at, text: `${process} ended: ${how}` }]));
