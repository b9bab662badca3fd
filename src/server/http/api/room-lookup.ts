/** Finds the room that has a code now. Changes name its ref, so that they never reach a later room with the same code. */
import type { RoomCode, RoomRef } from '../../../protocol/ids.ts';
import type { RoomSnapshot } from '../../../protocol/snapshot.ts';
import type { OwnerKey } from '../../../room/commands.ts';
import type { ServerContext } from '../../context.ts';
import { type Refused, refuse } from '../../replies.ts';
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

export function createRoomLookup({ engine, options, reads }: ServerContext): RoomLookup {
  // The engine accepts codes of the configured length only.
  const isCode = (code: RoomCode) => code.length === options.codeDigits;
  return {
    async read(code, ref) {
      if (!isCode(code)) return refuse('ROOM_NOT_FOUND');
      const found = await reads.read(nameOf(code, ref));
      return found.ok ? found : refuse(found.reason);
    },
    async ownerKey(code, ref, setSubject) {
      if (!isCode(code)) return refuse('ROOM_NOT_FOUND');
      const found = await engine.apply({ kind: 'resolve', ...nameOf(code, ref) });
      if (!found.ok) return refuse(found.reason);
      setSubject({ ref: found.ref });
      return { ok: true, key: { code, ref: found.ref, owner: true } };
    },
  };
}

const nameOf = (code: RoomCode, ref: RoomRef | undefined) => ({ code, ...(ref !== undefined && { ref }) });
