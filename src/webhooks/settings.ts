/** What the options of a server say of webhooks, checked together. */
import type { FeedType } from '../protocol/feed.ts';
import { complaintAbout } from './endpoint.ts';

export interface WebhookSettings {
  readonly urls: readonly string[];
  /** One, or two while it is changed. */
  readonly secrets: readonly string[];
  /** None for all. */
  readonly types: readonly FeedType[];
  readonly allowPrivate: boolean;
  readonly timeoutMs: number;
  readonly giveUpMs: number;
}

export interface WebhookOptions {
  readonly webhookUrls: readonly string[];
  readonly webhookSecrets: readonly string[];
  readonly webhookEvents: readonly FeedType[];
  readonly webhookAllowPrivate: boolean;
  readonly webhookTimeoutMs: number;
  readonly webhookGiveUpMs: number;
  readonly feedMaxEvents: number;
}

export class WebhookOptionError extends Error {
  override readonly name = 'WebhookOptionError';
  readonly option: keyof WebhookOptions;
  constructor(option: keyof WebhookOptions, reason: string) {
    super(reason);
    this.option = option;
  }
}

/**
 * @returns undefined when nobody is to be told.
 * @throws WebhookOptionError for the first option that makes no sense beside the others.
 */
export function readWebhooks(options: WebhookOptions): WebhookSettings | undefined {
  const { webhookUrls: urls, webhookSecrets: secrets, webhookAllowPrivate: allowPrivate, feedMaxEvents } = options;
  if (urls.length === 0) {
    if (secrets.length > 0) throw new WebhookOptionError('webhookUrls', 'needed beside webhookSecrets');
    return undefined;
  }
  for (const url of urls) {
    const complaint = complaintAbout(url, allowPrivate);
    if (complaint !== undefined) throw new WebhookOptionError('webhookUrls', complaint);
  }
  // Both would be one endpoint, and get each event once.
  if (new Set(urls.map((url) => new URL(url).href)).size < urls.length)
    throw new WebhookOptionError('webhookUrls', 'must not name one URL twice');
  if (secrets.length === 0) throw new WebhookOptionError('webhookSecrets', 'needed beside webhookUrls');
  if (feedMaxEvents === 0)
    throw new WebhookOptionError('feedMaxEvents', 'must not be 0 beside webhookUrls: they are sent the feed');
  return {
    urls,
    secrets,
    types: options.webhookEvents,
    allowPrivate,
    timeoutMs: options.webhookTimeoutMs,
    giveUpMs: options.webhookGiveUpMs,
  };
}
