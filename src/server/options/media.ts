/** Options of the STUN and TURN servers that clients use. */
import { z } from 'zod';
import { HOUR, listBy, milliseconds, type OptionEntry, optionEntry } from './entry.ts';
import { readStunUrl, readTurnUrl } from './ice-url.ts';

export const MEDIA = {
  stunUrls: listBy(readStunUrl, 'URLs of the STUN servers for clients, such as stun:stun.example.org:3478.'),
  turnUrls: listBy(
    readTurnUrl,
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
