/**
 * The STUN and TURN servers that clients are given. A relay costs its operator money, so credentials for it are issued to
 * members only, and they expire. They are coturn's time-limited ones: the TURN server needs no list of users, only the
 * secret that signs them.
 */
import { createHmac, createSecretKey, type KeyObject } from 'node:crypto';
import type { IceServer } from '../../protocol/messages.ts';
import type { Clock } from '../../support/clock.ts';
import type { Options } from '../options/options.ts';
import type { Session } from './session.ts';

/** Validity of a list without credentials, which nothing makes invalid. */
const STATIC_TTL_MS = 24 * 60 * 60_000;
/** Renewed in the last third: `turnTtlMs` is at least four ticks, so a tick falls into it with time left for delivery. */
const REFRESH_SHARE = 1 / 3;

interface Issued {
  readonly iceServers: IceServer[];
  /** Every entry of the list is valid for at least this long. */
  readonly ttlMs: number;
}

export interface IceServers {
  /** The servers that the session may use: STUN for every session, TURN for one with a seat. */
  issue(session: Session): Issued;
  /** Pushes new credentials to a member whose old ones are about to expire, or were issued by another node. */
  refresh(session: Session): void;
}

type IceOptions = Pick<Options, 'stunUrls' | 'turnUrls' | 'turnSecrets' | 'turnTtlMs'>;

export function createIceServers({ stunUrls, turnUrls, turnSecrets, turnTtlMs }: IceOptions, clock: Clock): IceServers {
  const stun: IceServer[] = stunUrls.length === 0 ? [] : [{ urls: [...stunUrls] }];
  const keys = turnSecrets.map((secret) => createSecretKey(secret, 'utf8'));
  const freshS = (turnTtlMs * (1 - REFRESH_SHARE)) / 1000;
  const uptimeS = (): number => Math.floor(clock.monotonic() / 1000);
  const steps = createStepDetector(clock);

  const issue = (session: Session): Issued => {
    if (keys.length === 0 || session.seat === null) return { iceServers: stun, ttlMs: STATIC_TTL_MS };
    // Rounded up to a full second, so that they are valid for all of `ttlMs`.
    const until = Math.ceil((clock.now() + turnTtlMs) / 1000);
    session.turnIssuedAt = uptimeS();
    const username = `${until}:${session.userId}`;
    // One entry per secret: during a rotation, the TURN server may know the old one, the new one, or both.
    const turn = keys.map((key) => ({ urls: [...turnUrls], username, credential: sign(key, username) }));
    return { iceServers: [...stun, ...turn], ttlMs: turnTtlMs };
  };

  return {
    issue,
    refresh(session) {
      if (keys.length === 0) return;
      const { turnIssuedAt } = session;
      const isFresh = turnIssuedAt > steps.lastStepS() && uptimeS() - turnIssuedAt < freshS;
      if (!isFresh) session.push('ice', issue(session));
    },
  };
}

/** A step of the wall clock makes the expiry wrong that is written in the credentials. Smaller ones do no harm. */
const MAX_STEP_MS = 60_000;

/** Finds steps of the wall clock: between two readings it has gone further than the monotonic clock. */
function createStepDetector(clock: Pick<Clock, 'now' | 'monotonic'>) {
  let offset = clock.now() - clock.monotonic();
  let lastStepS = -1;
  return {
    /** The uptime in whole seconds at which the last step was found; -1 before. */
    lastStepS(): number {
      const now = clock.now() - clock.monotonic();
      if (Math.abs(now - offset) > MAX_STEP_MS) {
        offset = now;
        lastStepS = Math.floor(clock.monotonic() / 1000);
      }
      return lastStepS;
    },
  };
}

/** The HMAC of coturn's `use-auth-secret`. It prescribes SHA-1, which is still secure as a keyed signature. */
const sign = (key: KeyObject, username: string): string => createHmac('sha1', key).update(username).digest('base64');
