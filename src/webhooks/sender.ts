/** Posts events to one endpoint. Responses are untrusted: bounded in size and time, and only the status is used. */
import { type ClientRequest, Agent as HttpAgent, type IncomingMessage, request as requestHttp } from 'node:http';
import { Agent as HttpsAgent, request as requestHttps } from 'node:https';
import type { LookupFunction } from 'node:net';
import type { Clock } from '../support/clock.ts';
import { createPublicLookup, isPublicAddress, literalAddress, PrivateAddress, type Resolve } from './addresses.ts';
import type { Endpoint } from './endpoint.ts';
import { retryAfterMs } from './retry-delay.ts';
import { type Message, signatureHeaders } from './signature.ts';

export type SendResult =
  | { readonly kind: 'delivered' }
  /** `reason` is for people and contains no secrets. */
  | { readonly kind: 'failed'; readonly reason: string; readonly retryAfterMs?: number | undefined }
  /** By `close`. */
  | { readonly kind: 'aborted' };

export interface Sender {
  /** Never rejects. Resolves within the time-out, plus one second for the rest of a response. */
  send(message: Message): Promise<SendResult>;
  /** Aborts requests in flight, and closes the connections. */
  close(): void;
}

export interface SenderDeps {
  readonly endpoint: Endpoint;
  /** Each signs every message: one, or two while the secret is changed. */
  readonly keys: readonly Buffer[];
  readonly allowPrivate: boolean;
  readonly timeoutMs: number;
  readonly clock: Clock;
  /** Replaces the resolver of the system: for tests. */
  readonly resolve?: Resolve | undefined;
}

/** Bounds of a response. Its body is read only because a connection can be reused once the body has ended. */
const MAX_BODY_BYTES = 4 * 1024;
const MAX_BODY_MS = 1_000;
const MAX_HEADER_BYTES = 16 * 1024;

export function createSender(deps: SenderDeps): Sender {
  const { endpoint, keys, allowPrivate, timeoutMs, clock } = deps;
  const secure = endpoint.url.protocol === 'https:';
  const agent = secure ? new HttpsAgent({ keepAlive: true }) : new HttpAgent({ keepAlive: true });
  const inFlight = new Set<ClientRequest>();
  const lookup: LookupFunction | undefined = allowPrivate ? undefined : createPublicLookup(deps.resolve);

  const post = ({ id, body }: Message): ClientRequest => {
    const bytes = Buffer.from(body);
    const headers = {
      'content-type': 'application/json',
      'content-length': bytes.length,
      'user-agent': 'Signalbox-Webhooks',
      ...signatureHeaders({ id, body }, keys, clock.now()),
    };
    const options = { method: 'POST', agent, headers, maxHeaderSize: MAX_HEADER_BYTES, ...(lookup && { lookup }) };
    const request = (secure ? requestHttps : requestHttp)(endpoint.url, options);
    request.end(bytes);
    return request;
  };

  return {
    async send(message) {
      const literal = literalAddress(endpoint.url);
      if (!allowPrivate && literal !== undefined && !isPublicAddress(literal)) return failed(new PrivateAddress());
      const request = attempt(() => post(message));
      if (request instanceof Error) return failed(request);
      inFlight.add(request);
      const cancelTimeout = clock.after(timeoutMs, () => request.destroy(new TimedOut(timeoutMs)));
      const result = await resultOf(request, clock);
      cancelTimeout();
      inFlight.delete(request);
      return result;
    },
    close() {
      for (const request of inFlight) request.destroy(new Aborted());
      agent.destroy();
    },
  };
}

/** The status alone decides: a body that is broken off or never ends changes nothing. */
function resultOf(request: ClientRequest, clock: Clock): Promise<SendResult> {
  return new Promise((resolve) => {
    let hasResponded = false;
    const resolveWithout = (result: SendResult) => {
      if (!hasResponded) resolve(result);
    };
    request.on('response', (response) => {
      hasResponded = true;
      const result = resultIn(response, clock.now());
      drain(response, clock, () => resolve(result));
    });
    request.on('error', (error) => resolveWithout(error instanceof Aborted ? { kind: 'aborted' } : failed(error)));
    // The last event of all, and the only one after a response without a listener, such as an upgrade.
    request.on('close', () => resolveWithout({ kind: 'failed', reason: 'closed the connection without an answer' }));
  });
}

function resultIn({ statusCode = 0, headers }: IncomingMessage, now: number): SendResult {
  if (statusCode >= 200 && statusCode < 300) return { kind: 'delivered' };
  const redirects = statusCode >= 300 && statusCode < 400;
  return {
    kind: 'failed',
    reason: `answered ${statusCode}${redirects ? ', and redirects are not followed' : ''}`,
    retryAfterMs: retryAfterMs(headers['retry-after'], now),
  };
}

/** Reads the rest of a response, or closes the connection when that is long or slow. */
function drain(response: IncomingMessage, clock: Clock, done: () => void): void {
  let left = MAX_BODY_BYTES;
  const hangUp = () => void response.destroy();
  const stop = clock.after(MAX_BODY_MS, hangUp);
  response.on('data', (chunk: Buffer) => {
    left -= chunk.length;
    if (left < 0) hangUp();
  });
  // The status has decided already.
  response.on('error', () => {});
  response.on('close', () => {
    stop();
    done();
  });
}

/** A request that cannot even be created has failed like any other: its event must not stay in the queue for ever. */
function attempt(post: () => ClientRequest): ClientRequest | Error {
  try {
    return post();
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}

class Aborted extends Error {}

class TimedOut extends Error {
  constructor(ms: number) {
    super(`did not answer within ${ms} ms`);
  }
}

/** Node's error messages may repeat parts of the request or the response; its error codes do not. */
function failed(error: Error & { readonly code?: unknown }): SendResult {
  if (error instanceof TimedOut || error instanceof PrivateAddress) return { kind: 'failed', reason: error.message };
  return { kind: 'failed', reason: typeof error.code === 'string' ? error.code : 'the connection failed' };
}
