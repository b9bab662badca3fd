/** Webhook options that are invalid, or contradict each other. */
import { expect, test } from 'vitest';
import { readFlags } from '../../src/cli/flags.ts';
import { OptionError, type PartialOptions, readOptions } from '../../src/server/options/options.ts';
import { createEndpoint } from '../../src/webhooks/endpoint.ts';
import { readWebhooks } from '../../src/webhooks/settings.ts';
import { SECRET } from './harness.ts';

const URLS = ['https://example.org/hooks/hidden'];
const good: PartialOptions = { webhookUrls: URLS, webhookSecrets: [SECRET] };

function problemOf(options: PartialOptions): string {
  try {
    readOptions(options);
  } catch (error) {
    if (error instanceof OptionError) return error.message;
    throw error;
  }
  throw new Error('the options were accepted');
}

test.each<[what: string, change: PartialOptions, option: string]>([
  ['no URL', { webhookUrls: ['example.org'] }, 'webhookUrls'],
  ['not https', { webhookUrls: ['http://example.org/hidden'] }, 'webhookUrls'],
  ['a private address', { webhookUrls: ['https://hidden:hidden@192.168.1.1/hidden'] }, 'webhookUrls'],
  ['another protocol', { webhookUrls: ['ftp://example.org/'], webhookAllowPrivate: true }, 'webhookUrls'],
  ['one URL twice', { webhookUrls: ['https://example.org', 'https://EXAMPLE.org/'] }, 'webhookUrls'],
  ['no URLs beside secrets', { webhookUrls: [] }, 'webhookUrls'],
  ['no secret', { webhookSecrets: [] }, 'webhookSecrets'],
  ['a short secret', { webhookSecrets: ['hidden'] }, 'webhookSecrets'],
  ['secrets that are no base64', { webhookSecrets: ['whsec_hidden hidden hidden hidden'] }, 'webhookSecrets'],
  ['three secrets', { webhookSecrets: [SECRET, SECRET, SECRET] }, 'webhookSecrets'],
  ['no feed', { feedMaxEvents: 0 }, 'feedMaxEvents'],
  // Possible from JavaScript.
  ['an unknown type', { webhookEvents: ['room_opened' as 'room_created'] }, 'webhookEvents'],
])('%s is refused', (_what, change, option) => {
  const said = problemOf({ ...good, ...change });
  expect(said).toMatch(new RegExp(`^${option}: `));
  expect(said).not.toMatch(/hidden|whsec_M/);
});

test('without URLs there are no webhooks', () => {
  expect(readWebhooks(readOptions({}))).toBeUndefined();
});

test('flags and variables set them too', () => {
  const given = { '--webhook-urls': 'https://a.example/,https://b.example/', '--webhook-events': 'room_created' };
  const options = readOptions(
    readFlags(
      { webhookUrls: given['--webhook-urls'], webhookEvents: given['--webhook-events'] },
      { SIGNALBOX_WEBHOOK_SECRETS: `${SECRET},another secret of 16` },
    ).options,
  );
  expect(readWebhooks(options)).toEqual({
    urls: ['https://a.example/', 'https://b.example/'],
    secrets: [SECRET, 'another secret of 16'],
    types: ['room_created'],
    allowPrivate: false,
    timeoutMs: 10_000,
    giveUpMs: 86_400_000,
  });
});

test('the id of an endpoint is a digest of its URL, of which only the origin is shown', () => {
  const [one, same, other] = [
    createEndpoint('https://user:hidden@example.org/hooks?hidden'),
    createEndpoint('https://user:hidden@EXAMPLE.org:443/hooks?hidden'),
    createEndpoint('https://user:hidden@example.org/hooks?other'),
  ];
  expect(one.id).toMatch(/^[0-9a-f]{12}$/);
  expect(same.id).toBe(one.id);
  expect(other.id).not.toBe(one.id);
  expect(one.origin).toBe('https://example.org');
});
