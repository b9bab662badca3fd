/** Closes the room of a create whose outcome is unknown, so that its code is used again: nobody knows the code. */
import type { RoomCode } from '../../protocol/ids.ts';
import type { Create } from '../../room/commands.ts';
import { codeAt, type Pool } from '../../room/pool.ts';
import type { ServerContext } from '../context.ts';
import { closeRoom } from './room-service.ts';

/** Rooms behind the begin of the search that are looked through. In a pool so full that the room is not among them, it ends by its lease. */
const LOOKED_THROUGH = 100;

/**
 * Its ref names the room. The code is a candidate of the command, or, had all of them been taken, the first free one from
 * where the command searched.
 *
 * @throws StoreUnavailable
 */
export async function undoCreate(context: ServerContext, pool: Pool, command: Create): Promise<void> {
  for (const code of command.candidates) if (await close(context, code, command)) return;
  const { shard, searchFrom, ref } = command;
  const after = searchFrom === 0 ? {} : { after: codeAt(pool, shard, searchFrom - 1) };
  const page = await context.engine.apply({ kind: 'list', shard, limit: LOOKED_THROUGH, ...after });
  const found = page.rooms.find((room) => room.ref === ref);
  if (found !== undefined) await close(context, found.code, command);
}

/** @returns whether the room had this code. */
async function close(context: ServerContext, code: RoomCode, { ref }: Create): Promise<boolean> {
  return (await closeRoom(context, { code, ref, owner: true })).ok;
}
