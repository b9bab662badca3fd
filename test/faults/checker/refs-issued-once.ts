/** No ref is ever given to two rooms: neither by two creates nor in two events of the feed. */
import { entriesOf, type Law } from './run.ts';

export const refsIssuedOnce: Law = (run) => {
  const creator = new Map<string, string>();
  const twice: { at: number; text: string }[] = [];
  for (const { at, client, name, error, room } of entriesOf(run, 'settled')) {
    if (name !== 'create' || error !== null || room === null) continue;
    const before = creator.get(room.ref);
    if (before !== undefined) twice.push({ at, text: `${room.ref} was given to ${before} and to ${client}` });
    creator.set(room.ref, client);
  }
  const born = new Set<string>();
  for (const { id, type, ref } of run.feed) {
    if (type !== 'room_created' || ref === null) continue;
    if (born.has(ref)) twice.push({ at: 0, text: `the feed has ${ref} created twice, again as ${id}` });
    born.add(ref);
  }
  return twice;
};
