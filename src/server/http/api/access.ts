/** Access to the API: a known token with the needed scope, and no writes while this node drains. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Log } from '../../../support/log.ts';
import { type AdminToken, type FindToken, hasAdminTokens, type Scope } from '../../auth/admin-tokens.ts';
import type { ServerContext } from '../../context.ts';
import type { ClientAddress } from '../../limits/client-address.ts';
import type { GuessLimiter } from '../../limits/guess-limiter.ts';
import type { Drain } from '../../presence/drain.ts';
import { sendProblem } from '../problem.ts';
import { type AuditSubject, SCOPE_NEEDED } from './operation.ts';

/** A request id of this shape is taken from the client; else one is made. */
const REQUEST_ID = /^[A-Za-z0-9_.:-]{1,64}$/;
const REQUEST_ID_BYTES = 9;
const DRAINING_RETRY_MS = 1000;
/** For the first try of the API: the cause is the server's configuration, not the token that was sent. */
const NO_TOKEN = 'This server has no token configured, so nobody may ask it: set SIGNALBOX_ADMIN_TOKEN.';

/** An authenticated request. */
export interface ApiCall {
  readonly token: AdminToken;
  readonly requestId: string;
  subject?: AuditSubject;
}

interface AccessParts {
  readonly context: ServerContext;
  readonly addressOf: ClientAddress;
  readonly drain: Drain;
  /** By address. */
  readonly wrongTokens: GuessLimiter;
}

export class ApiAccess {
  private readonly context: ServerContext;
  private readonly findToken: FindToken;
  private readonly addressOf: ClientAddress;
  private readonly drain: Drain;
  private readonly wrongTokens: GuessLimiter;
  private readonly calls = new WeakMap<FastifyRequest, ApiCall>();

  constructor(findToken: FindToken, { context, addressOf, drain, wrongTokens }: AccessParts) {
    this.context = context;
    this.findToken = findToken;
    this.addressOf = addressOf;
    this.drain = drain;
    this.wrongTokens = wrongTokens;
  }

  /** Checks the token of a request before anything else of it is read. @returns the reply of a refusal. */
  authenticate(request: FastifyRequest, reply: FastifyReply): FastifyReply | undefined {
    const requestId = requestIdOf(request) ?? this.context.random.text(REQUEST_ID_BYTES);
    reply.header('x-request-id', requestId);
    // Responses depend on the token and on the time: they must not be cached.
    reply.header('cache-control', 'no-store');
    // The token before the limit: a guesser behind the same address must not lock out a back end that knows a token. No
    // limit protects the token itself, which is too long to be guessed.
    const token = this.findToken(request.headers.authorization);
    if (token === undefined) return this.refuse(request, reply);
    this.calls.set(request, { token, requestId });
    return undefined;
  }

  /** Checks that the token may do this, now. @returns the reply of a refusal. */
  authorize(scope: Scope, request: FastifyRequest, reply: FastifyReply): FastifyReply | undefined {
    if (scope === 'read') return undefined;
    if (this.calls.get(request)?.token.scope !== 'write') {
      return sendProblem(reply, 'FORBIDDEN', { message: SCOPE_NEEDED });
    }
    return this.drain.draining ? sendProblem(reply, 'DRAINING', { retryAfterMs: DRAINING_RETRY_MS }) : undefined;
  }

  /** @returns `undefined` for a request that has not been authenticated. */
  callOf(request: FastifyRequest): ApiCall | undefined {
    return this.calls.get(request);
  }

  /** Logs a write: which token, which operation, with what result. */
  audit(request: FastifyRequest, reply: FastifyReply): void {
    const call = this.calls.get(request);
    if (call !== undefined && request.method !== 'GET' && request.method !== 'HEAD')
      logWrite(this.context.log, call, request, reply);
  }

  /** Wrong tokens are limited by address; a request without a token has guessed none. */
  private refuse(request: FastifyRequest, reply: FastifyReply): FastifyReply {
    if (request.headers.authorization !== undefined) {
      const address = this.addressOf(request.raw);
      const retryAfterMs = this.wrongTokens.waitOf(address);
      if (retryAfterMs > 0) {
        const message = 'Too many wrong tokens; wait before the next one.';
        return sendProblem(reply, 'RATE_LIMITED', { message, retryAfterMs });
      }
      this.wrongTokens.recordMiss(address);
    }
    const detail = hasAdminTokens(this.context.options) ? {} : { message: NO_TOKEN };
    return sendProblem(reply.header('www-authenticate', 'Bearer'), 'UNAUTHENTICATED', detail);
  }
}

function requestIdOf({ headers }: FastifyRequest): string | undefined {
  const given = headers['x-request-id'];
  return typeof given === 'string' && REQUEST_ID.test(given) ? given : undefined;
}

function logWrite(
  log: Log,
  { token, requestId, subject }: ApiCall,
  request: FastifyRequest,
  reply: FastifyReply,
): void {
  const route = `${request.method} ${request.routeOptions.url ?? 'elsewhere'}`;
  log.info(
    { token: token.name, route, status: reply.statusCode, requestId, ...subject },
    'the API was asked to change something',
  );
}
