/** Who a client is: by the hook `authenticate`, else by its resume token, else a new anonymous user. */
import type { IncomingHttpHeaders } from 'node:http';
import type { z } from 'zod';
import type { UserId } from '../../protocol/ids.ts';
import type { handshake } from '../../protocol/messages.ts';
import { GUEST_PREFIX, type GuardedHooks } from '../auth/hooks.ts';
import type { ResumeTokens } from '../auth/resume-tokens.ts';
import type { ServerContext } from '../context.ts';
import { HandshakeRefused } from '../replies.ts';

/** 128 bits: ids are neither guessed nor drawn twice. */
const USER_ID_BYTES = 16;

interface ClientIdentity {
  readonly userId: UserId;
  /** How the id is known: just drawn, told by the hook alone, or proved by a resume token. */
  readonly origin: 'new' | 'account' | 'resumed';
  readonly name: string | undefined;
  /** JSON text. */
  readonly metadata: string | undefined;
}

export class IdentityService {
  private readonly context: ServerContext;
  private readonly tokens: ResumeTokens;
  private readonly authenticate: GuardedHooks['authenticate'];

  constructor(context: ServerContext, tokens: ResumeTokens, authenticate: GuardedHooks['authenticate']) {
    this.context = context;
    this.tokens = tokens;
    this.authenticate = authenticate;
  }

  /** @throws HandshakeRefused */
  async identify(
    { token, resume, name }: z.infer<typeof handshake>,
    address: string,
    headers: IncomingHttpHeaders,
  ): Promise<ClientIdentity> {
    if (this.authenticate === undefined && token !== undefined)
      throw new HandshakeRefused('UNAUTHENTICATED', { message: 'This server takes no tokens.' });
    const resumed = resume === undefined ? undefined : await this.readResumeToken(resume);
    const verdict = (await this.authenticate?.({ token, resumed, name, address, headers })) ?? { ok: true };
    if (!verdict.ok) throw new HandshakeRefused(verdict.error.code, verdict.error);
    const profile = { name: verdict.name ?? name, metadata: verdict.metadata };
    if (verdict.userId !== undefined) {
      const origin = verdict.userId === resumed ? 'resumed' : 'account';
      return { ...profile, userId: verdict.userId, origin };
    }
    if (resume === undefined) return { ...profile, userId: await this.newUserId(), origin: 'new' };
    if (resumed === undefined) throw new HandshakeRefused('SESSION_EXPIRED');
    return { ...profile, userId: resumed, origin: 'resumed' };
  }

  issueResumeToken(userId: UserId): Promise<string> {
    return this.tokens.issue(userId, this.isAccount(userId));
  }

  /** With a hook, every id without the guests' prefix belongs to an account. */
  private isAccount(userId: UserId): boolean {
    return this.authenticate !== undefined && !userId.startsWith(GUEST_PREFIX);
  }

  /** Random text, references and the guests' prefix are all of the alphabet of a user id. */
  private async newUserId(): Promise<UserId> {
    const { options, random, references } = this.context;
    const prefix = this.authenticate === undefined ? '' : GUEST_PREFIX;
    if (options.userIds === 'random') return `${prefix}${random.text(USER_ID_BYTES)}` as UserId;
    return `${prefix}${await references.generate('user', { name: 'handshake' })}` as UserId;
  }

  /** A token that was issued without an identity does not open an account's id. */
  private async readResumeToken(resume: string): Promise<UserId | undefined> {
    const token = await this.tokens.read(resume);
    if (token === undefined || (this.isAccount(token.userId) && !token.identity)) return undefined;
    return token.userId;
  }
}
