/** Endpoints: the URLs that events are sent to. */
import { createHash } from 'node:crypto';
import { authorityProblem } from '../support/host.ts';
import { isPublicAddress, literalAddress } from './addresses.ts';
import type { EndpointId } from './queue/queue.ts';

export interface Endpoint {
  /** A digest of the URL: the same on every node, because all are configured with the same URL. */
  readonly id: EndpointId;
  /** Any part of it may contain credentials. */
  readonly url: URL;
  /** Without credentials: for logs and operators. */
  readonly origin: string;
}

const ID_LENGTH = 12;

/** @throws TypeError when the text is not a URL. */
export function createEndpoint(text: string): Endpoint {
  const url = new URL(text);
  const id = createHash('sha256').update(url.href).digest('hex').slice(0, ID_LENGTH);
  return { id, url, origin: url.origin };
}

/** Why a URL cannot be an endpoint; undefined when it can. The text does not repeat the URL, which may contain secrets. */
export function endpointProblem(text: string, allowPrivate: boolean): string | undefined {
  if (!/^https?:\/\//i.test(text)) return 'must begin with https://, as in https://example.org/hooks';
  const problem = authorityProblem(text);
  if (problem !== undefined) return `must be URLs such as https://example.org/hooks; one of them ${problem}`;
  const url = new URL(text);
  if (url.hash !== '') return 'must have no #, because what is behind it is not sent';
  if (allowPrivate) return undefined;
  // Events say who meets whom: on the internet they must be encrypted.
  if (url.protocol === 'http:') return 'must begin with https://, unless webhookAllowPrivate allows private networks';
  const literal = literalAddress(url);
  if (literal === undefined || isPublicAddress(literal)) return undefined;
  return `${url.origin} is a private address, which webhookAllowPrivate does not allow`;
}
