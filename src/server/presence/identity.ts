/** Who a client is: by the hook `authenticate`, else by its resume token, else somebody new. */
import type { IncomingHttpHeaders } from 'node:http';
import type { z } from 'zod';
import type { UserId } from '../../protocol/ids.ts';
import type { handshake } from '../../protocol/messages.ts';
import { GUEST, type GuardedHooks } from '../auth/hooks.ts';
import type { ResumeTokens } from '../auth/resume-tokens.ts';
import type { ServerContext } from '../context.ts';
import { HandshakeRefused } from '../replies.ts';

/** 16 bytes: nobody guesses another's id, and no two are drawn alike. */
const USER_ID_BYTES = 16;

interface ClientIdentity {
  readonly userId: UserId;
  readonly name: string | undefined;
  /** JSON text. */
  readonly metadata: string | undefined;
}

export interface IdentityService {
  /** @throws HandshakeRefused */
  identify(said: z.infer<typeof handshake>, address: string, headers: IncomingHttpHeaders): Promise<ClientIdentity>;
  /** The token with which this user comes back. */
  issue(userId: UserId): Promise<string>;
}

export function createIdentityService(
  context: ServerContext,
  tokens: ResumeTokens,
  authenticate: GuardedHooks['authenticate'],
): IdentityService {
  /** Of ids given where there is a hook: all that are not a guest's are of accounts. */
  const isIdentity = (userId: UserId): boolean => authenticate !== undefined && !userId.startsWith(GUEST);

  /** The alphabet of random text is the one of a user id, and so is that of a reference and of what begins a guest's. */
  const nextUserId = async (): Promise<UserId> => {
    const begin = authenticate === undefined ? '' : GUEST;
    if (context.options.userIds === 'random') return `${begin}${context.random.text(USER_ID_BYTES)}` as UserId;
    return `${begin}${await context.references.generate('user', { name: 'handshake' })}` as UserId;
  };

  /** A token that was given to a client without an identity is worth nothing for the id of an account. */
  const readResume = async (resume: string): Promise<UserId | undefined> => {
    const token = await tokens.read(resume);
    return token === undefined || (isIdentity(token.userId) && !token.identity) ? undefined : token.userId;
  };

  return {
    issue: (userId) => tokens.issue(userId, isIdentity(userId)),
    async identify({ token, resume, name }, address, headers) {
      if (authenticate === undefined && token !== undefined)
        throw new HandshakeRefused('UNAUTHENTICATED', { message: 'This server takes no tokens.' });
      const resumed = resume === undefined ? undefined : await readResume(resume);
      const verdict = (await authenticate?.({ token, resumed, name, address, headers })) ?? { ok: true };
      if (!verdict.ok) throw new HandshakeRefused(verdict.error.code, verdict.error);
      const known = { name: verdict.name ?? name, metadata: verdict.metadata };
      if (verdict.userId !== undefined) return { ...known, userId: verdict.userId };
      if (resume === undefined) return { ...known, userId: await nextUserId() };
      if (resumed === undefined) throw new HandshakeRefused('SESSION_EXPIRED');
      return { ...known, userId: resumed };
    },
  };
}
