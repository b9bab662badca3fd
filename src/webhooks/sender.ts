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
  /** For signatures, and for dates in responses. */
  readonly time: { now(): number };
  /** Replaces the resolver of the system: for tests. */
  readonly resolve?: Resolve | undefined;
}

/** Bounds of a response. Its body is read only because a connection can be reused once the body has ended. */
const MAX_BODY_BYTES = 4 * 1024;
const MAX_BODY_MS = 1_000;
const MAX_HEADER_BYTES = 16 * 1024;

export function createSender(deps: SenderDeps): Sender {
  const { endpoint, allowPrivate, timeoutMs, clock, time } = deps;
  const agent = isSecure(endpoint) ? new HttpsAgent({ keepAlive: true }) : new HttpAgent({ keepAlive: true });
  const inFlight = new Set<ClientRequest>();
  const post = createPost(deps);

  let isClosed = false;

  const attempt = async (
    message: Message,
    on: HttpAgent | false,
    deadline: Deadline,
  ): Promise<SendResult | 'stale'> => {
    if (isClosed) return { kind: 'aborted' };
    const request = created(() => post(message, on));
    if (request instanceof Error) return failed(request);
    inFlight.add(request);
    deadline.onMissed = () => request.destroy(new TimedOut(timeoutMs));
    const result = await resultOf(request, { clock, time });
    inFlight.delete(request);
    return result;
  };

  return {
    async send(message) {
      const literal = literalAddress(endpoint.url);
      if (!allowPrivate && literal !== undefined && !isPublicAddress(literal)) return failed(new PrivateAddress());
      const deadline: Deadline = { onMissed: () => {} };
      const cancelTimeout = clock.after(timeoutMs, () => deadline.onMissed());
      let result = await attempt(message, agent, deadline);
      // Once: the second connection is a new one.
      if (result === 'stale') result = await attempt(message, false, deadline);
      cancelTimeout();
      return result === 'stale' ? failed(new Error()) : result;
    },
    close() {
      isClosed = true;
      for (const request of inFlight) request.destroy(new Aborted());
      agent.destroy();
    },
  };
}

/** Sends a message through an agent with kept connections, or with `false` on a new connection that is not kept. */
type Post = (message: Message, agent: HttpAgent | false) => ClientRequest;

function createPost({ endpoint, keys, allowPrivate, time, resolve }: SenderDeps): Post {
  const lookup: LookupFunction | undefined = allowPrivate ? undefined : createPublicLookup(resolve);
  return ({ id, body }, agent) => {
    const bytes = Buffer.from(body);
    const headers = {
      'content-type': 'application/json',
      'content-length': bytes.length,
      'user-agent': 'Signalbox-Webhooks',
      ...signatureHeaders({ id, body }, keys, time.now()),
    };
    const options = { method: 'POST', agent, headers, maxHeaderSize: MAX_HEADER_BYTES, ...(lookup && { lookup }) };
    const request = (isSecure(endpoint) ? requestHttps : requestHttp)(endpoint.url, options);
    request.end(bytes);
    return request;
  };
}

const isSecure = ({ url }: Endpoint): boolean => url.protocol === 'https:';

/** The time limit of all attempts together. */
interface Deadline {
  onMissed: () => void;
}

/**
 * The status alone decides: a body that is broken off or never ends changes nothing.
 *
 * @returns `stale` when a kept connection had been closed by the receiver: it has not read the request, or not answered it
 */
function resultOf(
  request: ClientRequest,
  { clock, time }: Pick<SenderDeps, 'clock' | 'time'>,
): Promise<SendResult | 'stale'> {
  return new Promise((resolve) => {
    let hasResponded = false;
    const isStale = createStaleCheck(request);
    const resolveWithout = (result: SendResult | 'stale') => {
      if (!hasResponded) resolve(result);
    };
    request.on('response', (response) => {
      hasResponded = true;
      const result = resultIn(response, time.now());
      drain(response, clock, () => resolve(result));
    });
    request.on('error', (error) => {
      if (error instanceof Aborted) resolveWithout({ kind: 'aborted' });
      else resolveWithout(isStale(error) ? 'stale' : failed(error));
    });
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

/**
 * Whether an error is that of a kept connection which the receiver had closed meanwhile: HTTP servers close idle
 * connections without notice, and the next request may already be under way (RFC 9112, section 9.3.1).
 *
 * @returns a function for the request's error: without a byte of an answer on a reused connection
 */
function createStaleCheck(request: ClientRequest): (error: Error & { readonly code?: unknown }) => boolean {
  let bytesBefore = 0;
  request.on('socket', ({ bytesRead }) => {
    bytesBefore = bytesRead;
  });
  return ({ code }) =>
    request.reusedSocket && STALE_CODES.has(code) && (request.socket?.bytesRead ?? bytesBefore) === bytesBefore;
}

const STALE_CODES: ReadonlySet<unknown> = new Set(['ECONNRESET', 'EPIPE', 'ECONNABORTED']);

/** A request that cannot even be created has failed like any other: its event must not stay in the queue for ever. */
function created(post: () => ClientRequest): ClientRequest | Error {
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
