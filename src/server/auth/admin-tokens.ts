/** Bearer tokens of the administrative API, each with a name and a scope. */
import { createHash, timingSafeEqual } from 'node:crypto';

export type Scope = 'read' | 'write';

export interface AdminToken {
  /** Identifies the token in logs and separates its idempotency keys. Not a secret. */
  readonly name: string;
  /** `write` includes `read`. */
  readonly scope: Scope;
}

/** Invalid token options. The message never contains a token. */
export class AdminTokenError extends Error {
  override readonly name = 'AdminTokenError';
  readonly option: keyof AdminTokenOptions;
  constructor(option: keyof AdminTokenOptions, reason: string) {
    super(reason);
    this.option = option;
  }
}

/** Name of the token in the option `adminToken`. */
const ADMIN = 'admin';
/**
 * Characters of both base64 alphabets and of common password generators: safe in a header and in a comma-separated list. No
 * header carries a character outside of ASCII, or a blank at the end, as it is.
 */
const TOKEN = /^[A-Za-z0-9._~+/=-]{16,512}$/;
const TOKEN_RULE = '16 to 512 characters of A-Z a-z 0-9 . _ ~ + / = -';
const ENTRY = /^([A-Za-z0-9_-]{1,32})=(read|write):(.*)$/s;

interface KnownToken extends AdminToken {
  readonly token: string;
}

/**
 * @param adminToken has the name `admin` and the scope `write`.
 * @param entries `name=read:TOKEN` or `name=write:TOKEN`.
 * @throws AdminTokenError for a malformed token or entry, and for a duplicate name or token.
 */
export function readAdminTokens(adminToken: string | undefined, entries: readonly string[]): readonly KnownToken[] {
  if (adminToken !== undefined && !TOKEN.test(adminToken))
    throw new AdminTokenError('adminToken', `must have ${TOKEN_RULE}`);
  const known: KnownToken[] = adminToken === undefined ? [] : [{ name: ADMIN, scope: 'write', token: adminToken }];
  for (const [index, entry] of entries.entries()) {
    const [, name, scope, token] = ENTRY.exec(entry) ?? [];
    if (name === undefined || token === undefined || !TOKEN.test(token)) {
      const rule = `must be name=read:TOKEN or name=write:TOKEN, with a token of ${TOKEN_RULE}`;
      throw new AdminTokenError('adminTokens', `entry ${index + 1} ${rule}`);
    }
    if (known.some((other) => other.name === name))
      throw new AdminTokenError('adminTokens', `the name ${name} is used twice`);
    const same = known.find((other) => other.token === token);
    // With one token for two names, the audit log would be ambiguous.
    if (same !== undefined) throw new AdminTokenError('adminTokens', `${name} and ${same.name} have the same token`);
    known.push({ name, scope: scope === 'write' ? 'write' : 'read', token });
  }
  return known;
}

/** Whether any token is configured. */
export const hasAdminTokens = (options: AdminTokenOptions): boolean => countAdminTokens(options) > 0;

export const countAdminTokens = ({ adminToken, adminTokens }: AdminTokenOptions): number =>
  adminTokens.length + (adminToken === undefined ? 0 : 1);

interface AdminTokenOptions {
  readonly adminToken?: string | undefined;
  readonly adminTokens: readonly string[];
}

export type FindToken = (authorization: string | undefined) => AdminToken | undefined;

/** Constant time: compares digests, which have equal lengths, with every known token. */
export function createTokenCheck(known: readonly KnownToken[]): FindToken {
  const expected = known.map(({ name, scope, token }) => ({ name, scope, digest: digestOf(token) }));
  return (authorization) => {
    const given = digestOf(bearerOf(authorization ?? ''));
    let found: AdminToken | undefined;
    for (const { digest, ...token } of expected) if (timingSafeEqual(digest, given)) found = token;
    return found;
  };
}

/** Empty for other authentication schemes: no known token is empty. */
const bearerOf = (authorization: string): string => /^bearer +(.+)$/i.exec(authorization)?.[1] ?? '';

const digestOf = (text: string): Buffer => createHash('sha256').update(text).digest();
