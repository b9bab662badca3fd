/** Keeps the records of users who send nothing: a background tab sends no heartbeats, yet its connection is alive. */
import type { Stop } from '../../support/clock.ts';
import type { ServerContext } from '../context.ts';
import type { Session } from '../sessions/session.ts';
import { replaceSession } from './replace-session.ts';
import { refreshUser } from './user-record.ts';

/** Records written at the same time. */
const BATCH_SIZE = 200;

export function startRefreshing(context: ServerContext): Stop {
  let refreshing = false;
  return context.clock.every(context.options.tickMs, () => {
    if (refreshing) return;
    refreshing = true;
    void refreshIdleUsers(context).finally(() => {
      refreshing = false;
    });
  });
}

function refreshIdleUsers(context: ServerContext): Promise<void> {
  return refreshUsers(context, context.clock.monotonic() - context.options.userTtlMs / 2);
}

/** Writes the records that were last written before. */
export async function refreshUsers(context: ServerContext, before: number): Promise<void> {
  const idle = [...context.registry.all()].filter(({ refreshedAt }) => refreshedAt < before);
  for (let done = 0; done < idle.length; done += BATCH_SIZE) {
    const batch = idle.slice(done, done + BATCH_SIZE).filter(({ connected }) => connected);
    await Promise.all(batch.map((session) => refresh(context, session)));
  }
}

async function refresh(context: ServerContext, session: Session): Promise<void> {
  try {
    if ((await refreshUser(context, session)) === undefined) replaceSession(context, session);
  } catch (error) {
    context.faults(error, 'touch');
  }
}
