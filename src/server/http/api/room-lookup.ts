/** Finds the room that has a code now. Changes name its ref, so that they never reach a later room with the same code. */
import type { RoomCode, RoomRef } from '../../../protocol/ids.ts';
import type { RoomSnapshot } from '../../../protocol/snapshot.ts';
import type { OwnerKey } from '../../../room/commands.ts';
import type { ServerContext } from '../../context.ts';
import { type Refused, refuse } from '../../replies.ts';
import { readRoom } from '../../rooms/room-service.ts';
import type { AuditSubject } from './operation.ts';

export interface RoomLookup {
  /** @param ref if given, a room with another ref is a refusal. */
  read(code: RoomCode, ref: RoomRef | undefined): Promise<{ readonly ok: true; readonly room: RoomSnapshot } | Refused>;
  /** The key for operations of the server’s owner. @param setSubject receives the ref, for the audit log. */
  ownerKey(
    code: RoomCode,
    ref: RoomRef | undefined,
    setSubject: (about: AuditSubject) => void,
  ): Promise<{ readonly ok: true; readonly key: OwnerKey } | Refused>;
}

export function createRoomLookup(context: ServerContext): RoomLookup {
  const read: RoomLookup['read'] = async (code, ref) => {
    // The engine accepts codes of the configured length only.
    if (code.length !== context.options.codeDigits) return refuse('ROOM_NOT_FOUND');
    const found = await readRoom(context, { code, ...(ref !== undefined && { ref }) });
    return found.ok ? found : refuse(found.reason);
  };
  return {
    read,
    async ownerKey(code, ref, setSubject) {
      const found = await read(code, ref);
      if (!found.ok) return found;
      setSubject({ ref: found.room.ref });
      return { ok: true, key: { code, ref: found.room.ref, owner: true } };
    },
  };
}
