/** Options for back ends: the administrative API and webhooks. */
import { z } from 'zod';
import { FEED_TYPES } from '../../protocol/feed.ts';
import { keyOf } from '../../webhooks/signature.ts';
import { flag, HOUR, integer, milliseconds, type OptionEntry, optionalText, optionEntry, SECOND } from './entry.ts';

export const BACK_ENDS = {
  adminToken: optionalText(
    'Bearer token of the administrative API, with all rights: 16 to 512 characters of A-Z a-z 0-9 . _ ~ + / = -. Without any token, that API refuses all requests.',
    { secret: true },
    16,
  ),
  adminTokens: optionEntry(
    'list',
    z.array(z.string()).default([]),
    'Further bearer tokens of the administrative API: name=read:TOKEN or name=write:TOKEN (write includes read).',
    { secret: true },
  ),
  apiPerMinute: integer(
    600,
    1,
    10_000_000,
    'Rate limit of the administrative API: requests per minute, per token and node.',
  ),
  apiDocs: flag(true, 'Serve the documentation of the administrative API at /docs.'),
  webhookUrls: optionEntry(
    'list',
    z.array(z.string()).default([]),
    'Webhook URLs: events of the feed are posted to them, such as https://example.org/hooks. The same on every node.',
    { secret: true },
  ),
  webhookSecrets: optionEntry(
    'list',
    z
      .array(
        z.string().refine((text) => keyOf(text) !== undefined, 'must be whsec_<base64>, or at least 16 characters'),
      )
      .max(2)
      .default([]),
    'Secret that signs webhooks: whsec_<base64>, or at least 16 characters. Two during a rotation, the new one first.',
    { secret: true },
  ),
  webhookEvents: optionEntry(
    'list',
    z.array(z.enum(FEED_TYPES)).default([]),
    'Event types that are posted to webhooks, such as room_created. Default: all.',
  ),
  webhookAllowPrivate: flag(false, 'Allow webhook URLs with private addresses, and without TLS (http:).'),
  webhookTimeoutMs: milliseconds(10 * SECOND, 'Timeout of one webhook delivery attempt.'),
  webhookGiveUpMs: milliseconds(
    24 * HOUR,
    'How long delivery of an event to a webhook is retried before it becomes a dead letter.',
    0,
  ),
} as const satisfies Record<string, OptionEntry>;
