/**
 * The STUN and TURN servers that clients are told of. A relay costs its operator money, so its credentials are given to
 * members only and end by themselves. They are coturn's time-limited ones: the TURN server needs no list of users, only
 * the secret that signs them.
 */
import { createHmac, createSecretKey, type KeyObject } from 'node:crypto';
import type { IceServer } from '../../protocol/messages.ts';
import type { Clock } from '../../support/clock.ts';
import type { Options } from '../options/options.ts';
import type { Session } from './session.ts';

/** A list without credentials is good for as long as anybody cares to keep it. */
const STATIC_TTL_MS = 24 * 60 * 60_000;
/** `turnTtlMs` is four ticks at least: a tick falls into the last third of it, and time is left to hear of it. */
const REFRESH_SHARE = 1 / 3;

interface Issued {
  readonly iceServers: IceServer[];
  /** What is in the list is good for this long at least. */
  readonly ttlMs: number;
}

export interface IceServers {
  /** What the session may use from now on: STUN for everybody, TURN for who has a seat. */
  issue(session: Session): Issued;
  /** For those who have a seat: pushes new credentials when the old ones are about to end, or are unknown to this node. */
  refresh(session: Session): void;
}

type IceOptions = Pick<Options, 'stunUrls' | 'turnUrls' | 'turnSecrets' | 'turnTtlMs'>;

export function createIceServers({ stunUrls, turnUrls, turnSecrets, turnTtlMs }: IceOptions, clock: Clock): IceServers {
  const stun: IceServer[] = stunUrls.length === 0 ? [] : [{ urls: [...stunUrls] }];
  const keys = turnSecrets.map((secret) => createSecretKey(secret, 'utf8'));
  const earlyMs = turnTtlMs * REFRESH_SHARE;

  const issue = (session: Session): Issued => {
    if (keys.length === 0 || session.seat === null) return { iceServers: stun, ttlMs: STATIC_TTL_MS };
    // Up to the next full second: the promise of `ttlMs` is kept.
    const until = Math.ceil((clock.now() + turnTtlMs) / 1000);
    session.turnUntil = until;
    const username = `${until}:${session.userId}`;
    // One entry for each: while the secret is changed, the TURN server may know the old one, the new one, or both.
    const turn = keys.map((key) => ({ urls: [...turnUrls], username, credential: sign(key, username) }));
    return { iceServers: [...stun, ...turn], ttlMs: turnTtlMs };
  };

  return {
    issue,
    refresh(session) {
      if (keys.length > 0 && session.turnUntil * 1000 - clock.now() < earlyMs) session.push('ice', issue(session));
    },
  };
}

/** What coturn does with `use-auth-secret`. SHA-1 is its choice: as a keyed signature it still holds. */
const sign = (key: KeyObject, username: string): string => createHmac('sha1', key).update(username).digest('base64');
