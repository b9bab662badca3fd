/** A signal reaches the member that it is for, in the room in which it was sent. */
import { entriesOf, type Law } from './run.ts';

export const signalsStayInRoom: Law = (run) =>
  entriesOf(run, 'heard').flatMap(({ at, userId, from, signal, inRoom }) => {
    if (signal.to !== userId) return [{ at, text: `${userId} received a signal of ${from} to ${signal.to}` }];
    if (signal.ref !== inRoom)
      return [{ at, text: `${userId} received in ${inRoom} what ${from} said in ${signal.ref}` }];
    return [];
  });
