/** Resume tokens: JWTs that name a user, and whether its id comes from the hook `authenticate`. Every node can verify them. */
import { createSecretKey } from 'node:crypto';
import { jwtVerify, SignJWT } from 'jose';
import { USER_ID_PATTERN, type UserId } from '../../protocol/ids.ts';
import type { Clock } from '../../support/clock.ts';

const ALGORITHM = 'HS256';
/** Audience of the JWT: tokens for other purposes, signed with the same secret, are not accepted. */
const PURPOSE = 'signalbox:resume';

export interface ResumeTokens {
  /** @param identity whether the user id comes from the hook `authenticate`. */
  issue(userId: UserId, identity: boolean): Promise<string>;
  /** @returns the user, or `undefined` when the token is foreign, altered or expired. */
  read(token: string): Promise<{ readonly userId: UserId; readonly identity: boolean } | undefined>;
}

export function createResumeTokens(secret: string, ttlMs: number, clock: Clock): ResumeTokens {
  const key = createSecretKey(secret, 'utf8');
  return {
    issue: (userId, identity) =>
      new SignJWT(identity ? { identity } : {})
        .setProtectedHeader({ alg: ALGORITHM })
        .setSubject(userId)
        .setAudience(PURPOSE)
        .setExpirationTime(Math.ceil((clock.now() + ttlMs) / 1000))
        .sign(key),
    async read(token) {
      try {
        const { payload } = await jwtVerify(token, key, {
          algorithms: [ALGORITHM],
          audience: PURPOSE,
          currentDate: new Date(clock.now()),
        });
        // The signature vouches for the pattern: only `issue` signs.
        if (payload.sub === undefined || !USER_ID_PATTERN.test(payload.sub)) return undefined;
        return { userId: payload.sub as UserId, identity: payload['identity'] === true };
      } catch {
        return undefined;
      }
    },
  };
}
