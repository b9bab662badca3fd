/** Faults in the feed, and in what the owner may do. */
import type { Mutant } from './mutant.ts';

export const feedMutants: readonly Mutant[] = [
  {
    name: 'the creation of a room adds no event',
    file: 'create',
    from: 'append_created(room)\n',
    to: '',
    caughtBy: 'the feed has every event of a room from creation to destruction, one revision each',
  },
  {
    name: 'the joining of the first host adds no event',
    file: 'create',
    from: "append_feed_event(room, 'member:joined', { seat = seat, hostId = host_id })",
    to: '',
    caughtBy: 'the feed has every event of a room from creation to destruction, one revision each',
  },
  {
    name: 'the end of a room adds no user_left for its members',
    file: 'feed',
    from: "append_entry(room, rev, FEED_TYPE_OF['member:left'], user_id, reason_field)",
    to: '',
    caughtBy: 'the feed has every event of a room from creation to destruction, one revision each',
  },
  {
    name: 'members that leave with their room share a revision',
    file: 'feed',
    from: 'rev = rev + 1',
    to: '',
    caughtBy: 'the feed has every event of a room from creation to destruction, one revision each',
  },
  {
    name: 'an opaque body is left out',
    file: 'feed',
    from: 'if value ~= nil then',
    to: "if value ~= nil and field ~= 'metadata' then",
    caughtBy: 'an event has its id, its node, its time, and what members see',
  },
  {
    name: 'the host has the role of a member in the feed',
    file: 'feed',
    from: "seat.userId == host_id and 'host' or 'member'",
    to: "'member'",
    caughtBy: 'an event has its id, its node, its time, and what members see',
  },
  {
    name: 'the ref of the owner’s key is not checked',
    file: 'room',
    from: 'if room and room.ref == key.ref then\n      return true',
    to: 'if room then\n      return true',
    caughtBy: 'a command of the owner never affects a later room of the same code',
  },
  {
    name: 'a new room has no emptySince',
    file: 'create',
    from: '  emptySince = now,\n',
    to: '',
    caughtBy: 'a room without a host ends when no user joins',
  },
  {
    name: 'a page of rooms begins with the last of the one before',
    file: 'list',
    from: 'index_of(command.after) + 1',
    to: 'index_of(command.after)',
    caughtBy: 'the rooms of a shard are listed in the order of their codes, a page at a time',
  },
];
