/** The call records have every room of the feed, with one seat for each membership, which ended as the feed says. */
import { type Law, listOf } from './run.ts';

export const recordsBalance: Law = ({ feed, calls }) => {
  const rooms = new Map<string, (typeof feed)[number][]>();
  for (const event of feed) if (event.ref !== null) listOf(rooms, event.ref).push(event);
  const records = new Map(calls.map((call) => [call.ref, call]));
  return [...rooms].flatMap(([ref, events]) => {
    const has = (type: string) => events.filter((event) => event.type === type).length;
    const whole = new Set(events.map(({ rev }) => rev)).size === Math.max(...events.map(({ rev }) => rev ?? 0)) + 1;
    // Of a room whose events are not all there it is not known what its record must be.
    if (!whole || has('room_created') !== 1 || has('room_destroyed') !== 1) return [];
    const record = records.get(ref);
    if (record === undefined) return [{ at: 0, text: `${ref} has no record` }];
    const departures = events.flatMap(({ type, userId, reason }) =>
      type === 'user_left' ? [`${userId} ${reason}`] : [],
    );
    const seats = record.seats.map(({ userId, reason }) => `${userId} ${reason}`);
    const faults = [
      ...(record.ended ? [] : ['it has not ended']),
      ...(record.complete ? [] : ['it counts as incomplete']),
      ...(isSameList(seats, departures)
        ? []
        : [`its seats are ${seats.join(', ')}, the feed has ${departures.join(', ')}`]),
    ];
    return faults.map((text) => ({ at: 0, text: `the record of ${ref}: ${text}` }));
  });
};

const isSameList = (one: readonly string[], other: readonly string[]): boolean =>
  one.toSorted().join() === other.toSorted().join();
