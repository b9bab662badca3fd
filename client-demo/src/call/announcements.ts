/** Announces the events of the room as sentences, for screen readers and the chat. */
import type { Member, Mesh, Room } from '../../../src/client/index.ts';
import { grouped } from '../base/code.ts';
import { texts } from '../texts/texts.ts';
import { nameOf } from './person.ts';

export function announceEvents(room: Room, mesh: Mesh, tell: (words: string) => void): void {
  const { events } = texts;
  const isOther = (member: Member): boolean => member.userId !== room.self.userId;
  const tellOf = (member: Member, words: (name: string) => string): void => {
    if (isOther(member)) tell(words(nameOf(member)));
  };
  room.on('member:joined', ({ member }) => tellOf(member, events.joined));
  room.on('member:left', ({ member, reason }) => tellOf(member, events.left[reason ?? 'left']));
  room.on('member:away', ({ member }) => tellOf(member, events.away));
  room.on('member:back', ({ member }) => tellOf(member, events.back));
  room.on('host:changed', ({ hostId }) => hostId === room.self.userId && tell(events.youHost));
  room.on('room:updated', ({ room: now, before }) => {
    if (now.locked === before.locked) return;
    // Only a host can do that.
    if (room.self.role === 'host') tell(now.locked ? events.youLocked : events.youUnlocked);
    else tell(now.locked ? events.locked : events.unlocked);
  });
  room.on('room:code-changed', ({ code }) => tell(events.codeChanged(grouped(code))));
  const sharing = new Set<string>();
  mesh.on('change', ({ userId, member, screen }) => {
    if (screen === null) sharing.delete(userId);
    else if (!sharing.has(userId)) tellOf(member, events.shares);
    if (screen !== null) sharing.add(userId);
  });
  mesh.on('gone', ({ userId }) => sharing.delete(userId));
}
