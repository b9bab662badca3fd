/** Payloads as the rules take them: opaque bodies travel as text from here on. */
import type { RequestPayload } from '../../protocol/events.ts';
import type { Profile } from '../../protocol/snapshot.ts';
import type { RoomChanges, SeatChanges } from '../../room/commands.ts';

export const seatChanges = ({ metadata, ...rest }: Profile): SeatChanges => ({
  ...rest,
  ...(metadata !== undefined && { metadata: JSON.stringify(metadata) }),
});

export function roomChanges(payload: RequestPayload<'room:update'>): RoomChanges {
  const { name, type, maxUsers, locked, access, metadata } = payload;
  return {
    ...(name !== undefined && { name }),
    ...(type !== undefined && { type }),
    ...(maxUsers !== undefined && { maxUsers }),
    ...(locked !== undefined && { locked }),
    ...(access !== undefined && { access }),
    ...(metadata !== undefined && { metadata: JSON.stringify(metadata) }),
  };
}
