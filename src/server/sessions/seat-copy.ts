/** The seat of a session as this node knows it: what the store has to be told to restore it. */
import type { UserId } from '../../protocol/ids.ts';
import type { Member, RoomSnapshot } from '../../protocol/snapshot.ts';
import type { RestoredSeat } from '../../room/commands.ts';

export type SeatCopy = Pick<RestoredSeat, 'name' | 'mediaType' | 'metadata' | 'seq' | 'joinedAt'>;

export function seatCopyOf({ members }: RoomSnapshot, userId: UserId): SeatCopy | null {
  const member = members.find((other) => other.userId === userId);
  return member === undefined ? null : seatCopy(member);
}

export const seatCopy = ({ name, mediaType, metadata, seq, joinedAt }: Member): SeatCopy => ({
  name,
  seq,
  joinedAt,
  ...(mediaType !== undefined && { mediaType }),
  ...(metadata !== undefined && { metadata: JSON.stringify(metadata) }),
});
