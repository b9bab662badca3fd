/** A membership ends once: in the feed, `user_left` follows a `user_joined` of that user, and so for what each client is told. */
import { lastForgottenAt } from './excuses.ts';
import { type Law, listOf } from './run.ts';

export const oneLeftPerMembership: Law = (run) => [...inFeed(run), ...inPushes(run)];

const inFeed: Law = (run) => {
  const { feed } = run;
  const mayForget = lastForgottenAt(run) > Number.NEGATIVE_INFINITY;
  const rooms = new Map<string, (typeof feed)[number][]>();
  for (const event of feed) if (event.ref !== null) listOf(rooms, event.ref).push(event);
  return [...rooms].flatMap(([ref, events]) => {
    const ordered = events.toSorted((a, b) => (a.rev ?? 0) - (b.rev ?? 0));
    // Of a room whose first events are gone it is not known who was in it.
    if (ordered[0]?.type !== 'room_created') return [];
    const members = new Set<string>();
    /** Who has left since the last gap. In a gap, when the store has forgotten events, anybody may have joined. */
    const left = new Set<string>();
    let expected = 0;
    let hasGap = false;
    return ordered.flatMap(({ type, userId, rev, id }) => {
      if (mayForget && rev !== null && rev > expected) {
        hasGap = true;
        left.clear();
      }
      expected = Math.max(expected, (rev ?? 0) + 1);
      if (userId === null) return [];
      if (type === 'user_joined') members.add(userId);
      if (type !== 'user_left') return [];
      const isMember = members.delete(userId) || (hasGap && !left.has(userId));
      left.add(userId);
      return isMember ? [] : [{ at: 0, text: `the feed has ${userId} leave ${ref} without having joined: ${id}` }];
    });
  });
};

const inPushes: Law = ({ clients }) => {
  const left = new Map<string, number>();
  const found: { at: number; text: string }[] = [];
  for (const entry of clients) {
    // A snapshot may stand for an event that did not come.
    if (entry.kind === 'welcomed' || (entry.kind === 'answered' && entry.room !== null)) forget(left, entry.client);
    if (entry.kind !== 'pushed' || entry.userId === null) continue;
    const key = `${entry.client} ${entry.ref} ${entry.userId}`;
    if (entry.name === 'member:joined') left.delete(key);
    if (entry.name !== 'member:left') continue;
    const before = left.get(key);
    // Unless the join between both was lost on the way: then there is a gap.
    if (before !== undefined && entry.rev <= before + 1)
      found.push({ at: entry.at, text: `${entry.client} was told twice that ${entry.userId} left ${entry.ref}` });
    left.set(key, entry.rev);
  }
  return found;
};

function forget(left: Map<string, number>, client: string): void {
  for (const key of left.keys()) if (key.startsWith(`${client} `)) left.delete(key);
}
