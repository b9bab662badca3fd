/** Where events are sent to. */
import { createHash } from 'node:crypto';
import { isPublicAddress, literalAddress } from './addresses.ts';
import type { EndpointId } from './queue/queue.ts';

export interface Endpoint {
  /** A digest of the URL: all nodes are given the same one, and agree on it without a word. */
  readonly id: EndpointId;
  /** May hold credentials, in every part of it. */
  readonly url: URL;
  /** Fit for logs, and for people. */
  readonly origin: string;
}

const ID_LENGTH = 12;

/** @throws TypeError when it is no URL. */
export function createEndpoint(text: string): Endpoint {
  const url = new URL(text);
  const id = createHash('sha256').update(url.href).digest('hex').slice(0, ID_LENGTH);
  return { id, url, origin: url.origin };
}

/** What is wrong with a URL that events are to be sent to; undefined when nothing is. It does not repeat the URL. */
export function complaintAbout(text: string, allowPrivate: boolean): string | undefined {
  if (!URL.canParse(text)) return 'must be URLs such as https://example.org/hooks';
  const url = new URL(text);
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return 'must begin with https://';
  if (allowPrivate) return undefined;
  // On the internet, a plain connection shows everybody on its way who meets whom.
  if (url.protocol === 'http:') return 'must begin with https://, unless webhookAllowPrivate allows private networks';
  const literal = literalAddress(url);
  if (literal === undefined || isPublicAddress(literal)) return undefined;
  return `${url.origin} is a private address, which webhookAllowPrivate does not allow`;
}
