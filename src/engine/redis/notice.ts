/** What nodes tell each other, as it comes out of Redis: anybody who can write there may have put it in. */
import { z } from 'zod';
import { sessionNumber, userId } from '../../protocol/snapshot.ts';
import type { Notice } from '../engine.ts';
import { evictedSession } from './replies.ts';

const evicted = evictedSession.extend({ banned: z.boolean().exactOptional() });

const notice = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('replaced'), userId, session: sessionNumber }),
  z.object({ kind: z.literal('evicted'), evicted: z.array(evicted) }),
]) satisfies z.ZodType<Notice>;

export function parseNotice(text: string): Notice | undefined {
  try {
    return notice.parse(JSON.parse(text));
  } catch {
    return undefined;
  }
}
