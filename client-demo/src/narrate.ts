/** What has happened in the room, in words, or null where nobody needs to be told. */
import type { RoomSnapshot, UserId } from '../../src/protocol/index.ts';
import type { RoomEvent } from './replica.ts';
import { texts } from './texts.ts';
import { nameOf } from './tile.ts';

export function narrate(event: RoomEvent, before: RoomSnapshot, own: UserId): string | null {
  const nameBefore = (userId: UserId): string | null => {
    const member = before.members.find((one) => one.userId === userId);
    return member === undefined || userId === own ? null : nameOf(member);
  };
  switch (event.name) {
    case 'member:joined':
      return event.body.member.userId === own ? null : texts.events.joined(nameOf(event.body.member));
    case 'member:left':
      return say(nameBefore(event.body.userId), texts.events.left[event.body.reason]);
    case 'member:away':
      return say(nameBefore(event.body.userId), texts.events.away);
    case 'member:back':
      return say(nameBefore(event.body.member.userId), texts.events.back);
    case 'host:changed':
      return event.body.hostId === own ? texts.events.youHost : null;
    case 'room:updated':
      if (event.body.room.locked === before.locked) return null;
      return event.body.room.locked ? texts.events.locked : texts.events.unlocked;
    default:
      return null;
  }
}

const say = (name: string | null, words: (name: string) => string): string | null =>
  name === null ? null : words(name);
