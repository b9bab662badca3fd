/**
 * At quiescence no client has a seat of which it does not know: a create or join that was refused, or had no answer, has left
 * nothing behind.
 */
import { entriesOf, type Law } from './run.ts';

export const seatsAreShown: Law = (run) => {
  const last = Math.max(...run.samples.map(({ probe }) => probe));
  const rooms = run.samples.filter(({ probe }) => probe === last).flatMap((sample) => sample.rooms);
  return entriesOf(run, 'stands').flatMap(({ at, client, probe, state, userId, room }) => {
    if (probe !== last || state !== 'online' || userId === null) return [];
    return rooms
      .filter(({ ref, members }) => ref !== room?.ref && members.includes(userId))
      .map(({ ref }) => ({ at, text: `${client} has a seat in ${ref} and shows ${room?.ref ?? 'no room'}` }));
  });
};
