/** Messages between nodes, checked: every client of Redis can publish on their channels. */
import { z } from 'zod';
import { sessionNumber, userId } from '../../protocol/snapshot.ts';
import type { NodeMessage } from '../engine.ts';
import { evictedSession } from './replies.ts';

const evicted = evictedSession.extend({ banned: z.boolean().exactOptional() });

const nodeMessage = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('replaced'), userId, session: sessionNumber }),
  z.object({ kind: z.literal('evicted'), evicted: z.array(evicted) }),
]) satisfies z.ZodType<NodeMessage>;

export function parseNodeMessage(text: string): NodeMessage | undefined {
  try {
    return nodeMessage.parse(JSON.parse(text));
  } catch {
    return undefined;
  }
}
