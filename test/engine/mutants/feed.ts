/** Faults in what back ends are told, and in what the owner may. */
import type { Mutant } from './mutant.ts';

export const feedMutants: readonly Mutant[] = [
  {
    name: 'the creation of a room is not told',
    file: 'create',
    from: 'publish_created(room)\n',
    to: '',
    caughtBy: 'a life is told from creation to destruction, a revision each',
  },
  {
    name: 'the arrival of its host is not told',
    file: 'create',
    from: "publish(room, 'member:joined', { seat = seat, hostId = host_id })",
    to: '',
    caughtBy: 'a life is told from creation to destruction, a revision each',
  },
  {
    name: 'those who were in a room that has ended are not told of',
    file: 'feed',
    from: "append(room, rev, FEED_TYPE_OF['member:left'], user_id, reason_field)",
    to: '',
    caughtBy: 'a life is told from creation to destruction, a revision each',
  },
  {
    name: 'those who leave with their room share a revision',
    file: 'feed',
    from: 'rev = rev + 1',
    to: '',
    caughtBy: 'a life is told from creation to destruction, a revision each',
  },
  {
    name: 'an opaque body is left out',
    file: 'feed',
    from: 'if value ~= nil then',
    to: "if value ~= nil and field ~= 'metadata' then",
    caughtBy: 'an event says which, where, when, and what members see',
  },
  {
    name: 'a host is told as a member',
    file: 'feed',
    from: "seat.userId == host_id and 'host' or 'member'",
    to: "'member'",
    caughtBy: 'an event says which, where, when, and what members see',
  },
  {
    name: 'the owner need not mean this very room',
    file: 'room',
    from: 'if room and room.ref == key.ref then\n      return true',
    to: 'if room then\n      return true',
    caughtBy: 'what the owner means for one room never hits the next one under its code',
  },
  {
    name: 'an empty room is never empty since a time',
    file: 'create',
    from: '  emptySince = now,\n',
    to: '',
    caughtBy: 'and ends when nobody comes',
  },
  {
    name: 'a page of rooms begins with the last of the one before',
    file: 'list',
    from: 'index_of(command.after) + 1',
    to: 'index_of(command.after)',
    caughtBy: 'the rooms of a shard are listed in the order of their codes, a page at a time',
  },
];
