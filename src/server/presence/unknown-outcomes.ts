/**
 * Commands whose outcome is unknown: the store did not answer, and may have done them. A seat that a session may have is
 * given back before the next seat is asked for, when the client leaves, and when its connection ends.
 */
import type { RoomRef } from '../../protocol/ids.ts';
import type { ServerContext } from '../context.ts';
import type { Session, Unsettled } from '../sessions/session.ts';

/** A client that is told `STORE_UNAVAILABLE` asks again after a second: then it finds the seat, and nobody hears that it left. */
const ASKS_AGAIN_MS = 3000;

/** Remembers it. To be called in the session's queue. */
export function keepUnsettled(context: ServerContext, session: Session, unsettled: Unsettled): void {
  session.unsettled = unsettled;
  // Its client is to ask again with the key, over a later connection too.
  if (unsettled.idempotencyKey !== undefined) return;
  const again = () => session.queue.run(() => (session.unsettled === unsettled ? settle(session) : Promise.resolve()));
  context.clock.after(ASKS_AGAIN_MS, () => {
    if (session.unsettled === unsettled) context.reattempts.add(again, Number.POSITIVE_INFINITY);
  });
}

/**
 * Undoes what the session's last command of unknown outcome may have done. To be called in the session's queue.
 *
 * @param wanted the room that is about to be asked for again: a seat that the session has there already is found
 * @throws StoreUnavailable when the store still does not answer.
 */
export async function settle(session: Session, wanted?: RoomRef): Promise<void> {
  const { unsettled } = session;
  if (unsettled === undefined || unsettled.ref === wanted) return;
  await unsettled.undo();
  session.unsettled = undefined;
}

/**
 * The session has a seat in that room. A seat in doubt elsewhere is given back: a create that is repeated with its key may
 * have found a code in another shard than the first attempt, which has left its key there.
 */
export function forgetDoubt({ reattempts, options }: ServerContext, session: Session, ref: RoomRef): void {
  const { unsettled } = session;
  session.unsettled = undefined;
  if (unsettled !== undefined && unsettled.ref !== ref) void reattempts.run(unsettled.undo, options.roomEmptyMs);
}
