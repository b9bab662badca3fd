/** Settings of webhooks, from the options of a server, which are checked together. */
import type { FeedType } from '../protocol/feed.ts';
import { endpointProblem } from './endpoint.ts';

export interface WebhookSettings {
  readonly urls: readonly string[];
  /** One, or two while the secret is changed. */
  readonly secrets: readonly string[];
  /** Empty for all. */
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
 * @returns undefined when there are no URLs.
 * @throws WebhookOptionError for the first option that is invalid, or contradicts another.
 */
export function readWebhooks(options: WebhookOptions): WebhookSettings | undefined {
  const { webhookUrls: urls, webhookSecrets: secrets, webhookAllowPrivate: allowPrivate, feedMaxEvents } = options;
  if (urls.length === 0) {
    if (secrets.length > 0) throw new WebhookOptionError('webhookUrls', 'needed beside webhookSecrets');
    return undefined;
  }
  for (const url of urls) {
    const problem = endpointProblem(url, allowPrivate);
    if (problem !== undefined) throw new WebhookOptionError('webhookUrls', problem);
  }
  // Endpoints are identified by their URLs: both would be one endpoint.
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
