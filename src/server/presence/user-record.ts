/** The record of a connected user in the store: it expires unless it is refreshed. */
import type { ServerContext } from '../context.ts';
import type { Session } from '../sessions/session.ts';
import { replaceSession } from './replace-session.ts';

/** Writes the user's record; resolves to the store's time, or to `undefined` when a later session owns the record. */
export async function refreshUser(context: ServerContext, session: Session): Promise<number | undefined> {
  const { userId, number, connectedAt, seat, name, mediaType } = session;
  session.refreshedAt = context.clock.monotonic();
  const outcome = await context.engine.apply({
    kind: 'touch',
    userId,
    session: number,
    nodeId: context.nodeId,
    connectedAt,
    seat,
    ...(name !== undefined && { name }),
    ...(mediaType !== undefined && { mediaType }),
  });
  return outcome.ok ? outcome.now : undefined;
}

/** Refreshes the record without anybody waiting for it; the next heartbeat repairs a failure. */
export function refreshUserSoon(context: ServerContext, session: Session): void {
  refreshUser(context, session).then(
    (now) => {
      // The later session's `replaced` message may have arrived before this node knew this session.
      if (now === undefined) replaceSession(context, session);
    },
    (error: unknown) => context.log.debug({ err: error }, 'a user record was not written'),
  );
}
