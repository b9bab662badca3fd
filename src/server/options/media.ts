/** What peers are told of STUN and TURN servers. */
import { z } from 'zod';
import { HOUR, milliseconds, type OptionEntry, optionEntry } from './entry.ts';

/** RFC 7064 and 7065. A browser that is given one malformed address makes no connection at all. */
const STUN_URL = /^stuns?:[^\s/?#@,]+$/;
const TURN_URL = /^turns?:[^\s/?#@,]+(\?transport=(udp|tcp))?$/;

export const MEDIA = {
  stunUrls: optionEntry(
    'list',
    z.array(z.string().regex(STUN_URL, 'must be such as stun:stun.example.org:3478')).default([]),
    'STUN servers handed to clients, such as stun:stun.example.org:3478.',
  ),
  turnUrls: optionEntry(
    'list',
    z.array(z.string().regex(TURN_URL, 'must be such as turn:turn.example.org:3478?transport=udp')).default([]),
    'Addresses of the TURN server handed to members, such as turn:turn.example.org:3478?transport=udp.',
  ),
  turnSecrets: optionEntry(
    'list',
    z.array(z.string().min(16)).max(2).default([]),
    'What the TURN server calls its static-auth-secret, 16 characters or more; while it is changed, two: the new one first.',
    { env: 'TURN_SECRET', secret: true },
  ),
  turnTtlMs: milliseconds(HOUR, 'How long credentials for the TURN server are good; members get new ones in time.'),
} as const satisfies Record<string, OptionEntry>;
