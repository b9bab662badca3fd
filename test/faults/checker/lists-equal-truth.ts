/** At quiescence the room that a client shows is the room in Redis: ref, revision and members. */
import { entriesOf, type Law } from './run.ts';

export const listsEqualTruth: Law = (run) => {
  const last = Math.max(...run.samples.map(({ probe }) => probe));
  const rooms = new Map(
    run.samples
      .filter(({ probe }) => probe === last)
      .flatMap((it) => it.rooms.map((room) => [room.code, room] as const)),
  );
  return entriesOf(run, 'stands').flatMap(({ at, client, probe, state, userId, room }) => {
    if (probe !== last) return [];
    if (state !== 'online') return [{ at, text: `${client} is ${state} though nothing fails any more` }];
    if (room === null) return [];
    const truth = rooms.get(room.code);
    if (truth === undefined) return [{ at, text: `${client} shows ${room.code} ${room.ref}, which is not in Redis` }];
    if (truth.ref !== room.ref)
      return [{ at, text: `${client} shows ${room.ref} under ${room.code}, Redis has ${truth.ref}` }];
    const members = room.members.join(' ');
    if (truth.members.join(' ') !== members)
      return [{ at, text: `${client} shows ${members} in ${room.ref}, Redis has ${truth.members.join(' ')}` }];
    if (truth.rev !== room.rev)
      return [{ at, text: `${client} shows revision ${room.rev} of ${room.ref}, Redis ${truth.rev}` }];
    if (userId !== null && !truth.members.includes(userId))
      return [{ at, text: `${client} has no seat in the room that it shows, ${room.ref}` }];
    return [];
  });
};
