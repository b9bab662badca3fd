/** Who may use the administrative API: bearer tokens, each with a name and what it may do. */
import { createHash, timingSafeEqual } from 'node:crypto';

export type Scope = 'read' | 'write';

export interface AdminToken {
  /** For the log, and for keys of its own: never a secret. */
  readonly name: string;
  /** `write` includes `read`. */
  readonly scope: Scope;
}

/** Tokens that cannot be. Its message holds none of them. */
export class AdminTokenError extends Error {
  override readonly name = 'AdminTokenError';
}

/** The name of the one token that has an option of its own. */
const ADMIN = 'admin';
/** Of base64 in both alphabets, and what generators of passwords like: nothing that a header or a list would change. */
const ENTRY = /^([A-Za-z0-9_-]{1,32})=(read|write):([A-Za-z0-9._~+/=-]{16,512})$/;

interface KnownToken extends AdminToken {
  readonly token: string;
}

/**
 * @param adminToken may do everything, under the name `admin`.
 * @param entries `name=read:TOKEN` or `name=write:TOKEN`.
 * @throws AdminTokenError for an entry that is malformed, or a name or token that is there twice.
 */
export function readAdminTokens(adminToken: string | undefined, entries: readonly string[]): readonly KnownToken[] {
  const known: KnownToken[] = adminToken === undefined ? [] : [{ name: ADMIN, scope: 'write', token: adminToken }];
  for (const [index, entry] of entries.entries()) {
    const [, name, scope, token] = ENTRY.exec(entry) ?? [];
    if (name === undefined || token === undefined) {
      throw new AdminTokenError(
        `entry ${index + 1} must be name=read:TOKEN or name=write:TOKEN, of 16 characters or more`,
      );
    }
    if (known.some((other) => other.name === name)) throw new AdminTokenError(`the name ${name} is there twice`);
    const same = known.find((other) => other.token === token);
    // With one token for two names, what the log says would be true of either.
    if (same !== undefined) throw new AdminTokenError(`${name} and ${same.name} have the same token`);
    known.push({ name, scope: scope === 'write' ? 'write' : 'read', token });
  }
  return known;
}

/** Whether anybody may use it. */
export const hasAdminTokens = (options: AdminTokenOptions): boolean => countAdminTokens(options) > 0;

export const countAdminTokens = ({ adminToken, adminTokens }: AdminTokenOptions): number =>
  adminTokens.length + (adminToken === undefined ? 0 : 1);

interface AdminTokenOptions {
  readonly adminToken?: string | undefined;
  readonly adminTokens: readonly string[];
}

export type FindToken = (authorization: string | undefined) => AdminToken | undefined;

/** Digests are of one length, and all are compared with: the time it takes tells nothing of any token. */
export function createTokenCheck(known: readonly KnownToken[]): FindToken {
  const expected = known.map(({ name, scope, token }) => ({ name, scope, digest: digestOf(token) }));
  return (authorization) => {
    const given = digestOf(bearerOf(authorization ?? ''));
    let found: AdminToken | undefined;
    for (const { digest, ...token } of expected) if (timingSafeEqual(digest, given)) found = token;
    return found;
  };
}

/** No token is empty: none is found for the header of another kind. */
const bearerOf = (authorization: string): string => /^bearer +(.+)$/i.exec(authorization)?.[1] ?? '';

const digestOf = (text: string): Buffer => createHash('sha256').update(text).digest();
