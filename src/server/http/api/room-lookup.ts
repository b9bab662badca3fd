/** Which room a code stands for. Whatever changes a room names its ref, so that it never hits the next one under the code. */
import type { RoomCode, RoomRef } from '../../../protocol/ids.ts';
import type { RoomSnapshot } from '../../../protocol/snapshot.ts';
import type { OwnerKey } from '../../../room/commands.ts';
import type { ServerContext } from '../../context.ts';
import { type Refused, refuse } from '../../replies.ts';
import type { About } from './operation.ts';

export interface RoomLookup {
  /** @param ref that very room, or a refusal. */
  read(code: RoomCode, ref: RoomRef | undefined): Promise<{ readonly ok: true; readonly room: RoomSnapshot } | Refused>;
  /** The key that the owner of the server has to it. @param note is told which room it is. */
  ownerKey(
    code: RoomCode,
    ref: RoomRef | undefined,
    note: (about: About) => void,
  ): Promise<{ readonly ok: true; readonly key: OwnerKey } | Refused>;
}

export function createRoomLookup({ engine, options }: ServerContext): RoomLookup {
  const read: RoomLookup['read'] = async (code, ref) => {
    // The engine knows codes of its own length only.
    if (code.length !== options.codeDigits) return refuse('ROOM_NOT_FOUND');
    const found = await engine.apply({ kind: 'read', code, ...(ref !== undefined && { ref }) });
    return found.ok ? found : refuse(found.reason);
  };
  return {
    read,
    async ownerKey(code, ref, note) {
      const found = await read(code, ref);
      if (!found.ok) return found;
      note({ ref: found.room.ref });
      return { ok: true, key: { code, ref: found.room.ref, owner: true } };
    },
  };
}
