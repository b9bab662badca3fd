/** Options of the STUN and TURN servers that clients use. */
import { z } from 'zod';
import { HOUR, milliseconds, type OptionEntry, optionEntry } from './entry.ts';

/** RFC 7064 and 7065. Checked here because one malformed URL makes RTCPeerConnection throw in the browser. */
const STUN_URL = /^stuns?:[^\s/?#@,]+$/;
const TURN_URL = /^turns?:[^\s/?#@,]+(\?transport=(udp|tcp))?$/;

export const MEDIA = {
  stunUrls: optionEntry(
    'list',
    z.array(z.string().regex(STUN_URL, 'must be a URL such as stun:stun.example.org:3478')).default([]),
    'URLs of the STUN servers for clients, such as stun:stun.example.org:3478.',
  ),
  turnUrls: optionEntry(
    'list',
    z.array(z.string().regex(TURN_URL, 'must be a URL such as turn:turn.example.org:3478?transport=udp')).default([]),
    'URLs of the TURN server for members, such as turn:turn.example.org:3478?transport=udp.',
  ),
  turnSecrets: optionEntry(
    'list',
    z.array(z.string().min(16)).max(2).default([]),
    'Shared secret of the TURN server (static-auth-secret of coturn), at least 16 characters. Two during a rotation, the new one first.',
    { env: 'TURN_SECRET', secret: true },
  ),
  turnTtlMs: milliseconds(HOUR, 'Lifetime of TURN credentials; members receive new ones before they expire.'),
} as const satisfies Record<string, OptionEntry>;
