/** Messages from other nodes about sessions of this one. */
import type { NodeMessage } from '../../engine/engine.ts';
import type { ServerContext } from '../context.ts';
import { evictSession } from './evict-session.ts';
import { replaceSession } from './replace-session.ts';

export function onNodeMessage(context: ServerContext, message: NodeMessage): void {
  if (message.kind === 'evicted') {
    for (const entry of message.evicted) evictSession(context, entry);
    return;
  }
  const session = context.registry.get(message.userId);
  if (session !== undefined && session.number < message.session) replaceSession(context, session);
}
