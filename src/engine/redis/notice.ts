/** What nodes tell each other, as it comes out of Redis: anybody who can write there may have put it in. */
import { z } from 'zod';
import type { NodeId } from '../../protocol/ids.ts';
import { CLOSE_REASONS, LEAVE_REASONS } from '../../protocol/messages.ts';
import { roomCode, roomRef, sessionNumber, userId } from '../../protocol/snapshot.ts';
import type { Notice } from '../engine.ts';

const evicted = z.object({
  code: roomCode,
  ref: roomRef,
  userId,
  session: sessionNumber,
  // Nodes are named by this server alone.
  nodeId: z.string().transform((text) => text as NodeId),
  reason: z.enum([...LEAVE_REASONS, ...CLOSE_REASONS]),
  banned: z.boolean().exactOptional(),
});

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
