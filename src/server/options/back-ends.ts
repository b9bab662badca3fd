/** What back ends may ask, and what they are told. */
import { z } from 'zod';
import { FEED_TYPES } from '../../protocol/feed.ts';
import { keyOf } from '../../webhooks/signature.ts';
import { flag, HOUR, integer, milliseconds, type OptionEntry, optionalText, optionEntry, SECOND } from './entry.ts';

export const BACK_ENDS = {
  adminToken: optionalText(
    'Bearer token of the administrative API; 16 characters or more. Without it, that API answers nobody.',
    { secret: true },
    16,
  ),
  adminTokens: optionEntry(
    'list',
    z.array(z.string()).default([]),
    'More bearer tokens of that API: name=read:TOKEN or name=write:TOKEN (which may read too).',
    { secret: true },
  ),
  apiPerMinute: integer(600, 1, 10_000_000, 'Requests per minute that each of these tokens may make, of each node.'),
  apiDocs: flag(true, 'Serve the documentation of that API at /docs.'),
  webhookUrls: optionEntry(
    'list',
    z.array(z.string()).default([]),
    'Where the events of the feed are posted to, such as https://example.org/hooks; the same on every node.',
    { secret: true },
  ),
  webhookSecrets: optionEntry(
    'list',
    z
      .array(z.string().refine((text) => keyOf(text) !== undefined, 'must be whsec_<base64>, or 16 characters or more'))
      .max(2)
      .default([]),
    'Signs those events: whsec_<base64>, or 16 characters or more; while it is changed, two: the new one first.',
    { secret: true },
  ),
  webhookEvents: optionEntry(
    'list',
    z.array(z.enum(FEED_TYPES)).default([]),
    'The types of events that are posted, such as room_created; all unless given.',
  ),
  webhookAllowPrivate: flag(false, 'Post events to private addresses too, and without TLS (http:).'),
  webhookTimeoutMs: milliseconds(10 * SECOND, 'How long the receiver of an event may take to answer.'),
  webhookGiveUpMs: milliseconds(
    24 * HOUR,
    'How long an event is posted again and again before it is a dead letter.',
    0,
  ),
} as const satisfies Record<string, OptionEntry>;
