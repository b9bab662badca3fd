/** Posts events to one endpoint, and trusts nothing of what comes back. */
import { type ClientRequest, Agent as HttpAgent, type IncomingMessage, request as requestHttp } from 'node:http';
import { Agent as HttpsAgent, request as requestHttps } from 'node:https';
import type { LookupFunction } from 'node:net';
import type { Clock } from '../support/clock.ts';
import { createPublicLookup, isPublicAddress, literalAddress, PrivateAddress, type Resolve } from './addresses.ts';
import { retryAfterMs } from './backoff.ts';
import type { Endpoint } from './endpoint.ts';
import { type Message, signatureHeaders } from './signature.ts';

export type Answer =
  | { readonly kind: 'delivered' }
  /** `reason` is for people, and holds nothing secret. */
  | { readonly kind: 'failed'; readonly reason: string; readonly retryAfterMs?: number | undefined }
  /** By us. */
  | { readonly kind: 'aborted' };

export interface Sender {
  /** Never rejects. Resolves within the time-out, and another second for the rest of an answer. */
  send(message: Message): Promise<Answer>;
  /** Aborts what is under way, and closes the connections. */
  close(): void;
}

export interface SenderParts {
  readonly endpoint: Endpoint;
  /** One, or two. */
  readonly keys: readonly Buffer[];
  readonly allowPrivate: boolean;
  readonly timeoutMs: number;
  readonly clock: Clock;
  /** Replaces that of the system: for tests. */
  readonly resolve?: Resolve | undefined;
}

/** What of an answer is read at all: its end lets the connection be used again. */
const MOST_BODY_BYTES = 4 * 1024;
const MOST_BODY_MS = 1_000;
const MOST_HEADER_BYTES = 16 * 1024;

export function createSender(parts: SenderParts): Sender {
  const { endpoint, keys, allowPrivate, timeoutMs, clock } = parts;
  const secure = endpoint.url.protocol === 'https:';
  const agent = secure ? new HttpsAgent({ keepAlive: true }) : new HttpAgent({ keepAlive: true });
  const underWay = new Set<ClientRequest>();
  const lookup: LookupFunction | undefined = allowPrivate ? undefined : createPublicLookup(parts.resolve);

  const post = ({ id, body }: Message): ClientRequest => {
    const bytes = Buffer.from(body);
    const headers = {
      'content-type': 'application/json',
      'content-length': bytes.length,
      'user-agent': 'Signalbox-Webhooks',
      ...signatureHeaders({ id, body }, keys, clock.now()),
    };
    const options = { method: 'POST', agent, headers, maxHeaderSize: MOST_HEADER_BYTES, ...(lookup && { lookup }) };
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
      underWay.add(request);
      const stopDeadline = clock.after(timeoutMs, () => request.destroy(new TimedOut(timeoutMs)));
      const answer = await answerTo(request, clock);
      stopDeadline();
      underWay.delete(request);
      return answer;
    },
    close() {
      for (const request of underWay) request.destroy(new Aborted());
      agent.destroy();
    },
  };
}

/** The status alone counts: whoever has said that it took the event need not be able to say more. */
function answerTo(request: ClientRequest, clock: Clock): Promise<Answer> {
  return new Promise((resolve) => {
    let answered = false;
    const end = (answer: Answer) => {
      if (!answered) resolve(answer);
    };
    request.on('response', (response) => {
      answered = true;
      const answer = judge(response, clock.now());
      drain(response, clock, () => resolve(answer));
    });
    request.on('error', (error) => end(error instanceof Aborted ? { kind: 'aborted' } : failed(error)));
    // After everything else, and alone when the answer is of a kind that nobody listens to, such as an upgrade.
    request.on('close', () => end({ kind: 'failed', reason: 'closed the connection without an answer' }));
  });
}

function judge({ statusCode = 0, headers }: IncomingMessage, now: number): Answer {
  if (statusCode >= 200 && statusCode < 300) return { kind: 'delivered' };
  const redirects = statusCode >= 300 && statusCode < 400;
  return {
    kind: 'failed',
    reason: `answered ${statusCode}${redirects ? ', and redirects are not followed' : ''}`,
    retryAfterMs: retryAfterMs(headers['retry-after'], now),
  };
}

/** Reads the rest of an answer, or hangs up on one that is long or slow. */
function drain(response: IncomingMessage, clock: Clock, done: () => void): void {
  let left = MOST_BODY_BYTES;
  const hangUp = () => void response.destroy();
  const stop = clock.after(MOST_BODY_MS, hangUp);
  response.on('data', (chunk: Buffer) => {
    left -= chunk.length;
    if (left < 0) hangUp();
  });
  // What breaks off here has been judged already.
  response.on('error', () => {});
  response.on('close', () => {
    stop();
    done();
  });
}

/** What cannot even be begun has failed like anything else: its event must not stay for ever. */
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

/** Node's own messages may repeat what was asked for or received; its codes do not. */
function failed(error: Error & { readonly code?: unknown }): Answer {
  if (error instanceof TimedOut || error instanceof PrivateAddress) return { kind: 'failed', reason: error.message };
  return { kind: 'failed', reason: typeof error.code === 'string' ? error.code : 'the connection failed' };
}
