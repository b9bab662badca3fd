/** What the events of rooms tell this node, whichever node sends them: the copies of its rooms and seats, and released codes. */
import type { RoomEvent } from '../../room/outcomes.ts';
import type { ServerContext } from '../context.ts';
import { seatCopy } from '../sessions/seat-copy.ts';

type Learning = Pick<ServerContext, 'registry' | 'released'>;

export function learnEvent({ registry, released }: Learning, event: RoomEvent): void {
  const { name, body } = event;
  if (name === 'room:closed') released.add(body.code);
  registry.room(body.ref)?.kept.learnEvent(event);
  if (!('member' in body)) return;
  const session = registry.member(body.ref, body.member.userId);
  // Of an earlier seat in the same room, the event may come late.
  if (session?.seatCopy?.seq === body.member.seq) session.seatCopy = seatCopy(body.member);
}
