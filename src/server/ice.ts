/** The STUN servers that clients are told of. (Time-limited TURN credentials take their place here.) */
import type { IceServer } from '../protocol/messages.ts';
import type { Options } from './options.ts';

/** A list without credentials is good for as long as anybody cares to keep it. */
const STATIC_TTL_MS = 24 * 60 * 60_000;

export interface Ice {
  readonly iceServers: IceServer[];
  readonly ttlMs: number;
}

export function iceOf({ stunUrls }: Pick<Options, 'stunUrls'>): Ice {
  return { iceServers: stunUrls.length === 0 ? [] : [{ urls: [...stunUrls] }], ttlMs: STATIC_TTL_MS };
}
