/** Who gets in: a known token, with the scope that is needed, not too often, and no writing while this node goes away. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Log } from '../../../support/log.ts';
import { type AdminToken, type FindToken, hasAdminTokens, type Scope } from '../../auth/admin-tokens.ts';
import type { ServerContext } from '../../context.ts';
import type { ClientAddress } from '../../limits/client-address.ts';
import { createGuessLimiter } from '../../limits/guess-limiter.ts';
import type { Drain } from '../../presence/drain.ts';
import { sendProblem } from '../problem.ts';
import { type About, SCOPE_NEEDED } from './operation.ts';

/** Wrong tokens that an address may try before the next wrong ones have to wait: a back end with an old one tries a few. */
const FREE_WRONG_TOKENS = 20;
/** Of its own the request brings along one of this shape, or it is given one. */
const REQUEST_ID = /^[A-Za-z0-9_.:-]{1,64}$/;
const REQUEST_ID_BYTES = 9;
const DRAINING_RETRY_MS = 1000;
/** Whoever tries the API for the first time must not look for what is wrong with the token that they bring. */
const NO_TOKEN = 'This server has no token configured, so nobody may ask it: set SIGNALBOX_ADMIN_TOKEN.';

/** What is known of a request that was let in. */
export interface ApiCall {
  readonly token: AdminToken;
  readonly requestId: string;
  about?: About;
}

export interface ApiAccess {
  /** Looks at the token of a request before anything else of it is read. @returns a reply when it was refused. */
  authenticate(request: FastifyRequest, reply: FastifyReply): FastifyReply | undefined;
  /** Looks whether that token may do this, now. */
  authorize(scope: Scope, request: FastifyRequest, reply: FastifyReply): FastifyReply | undefined;
  /** Of a request that was admitted. */
  callOf(request: FastifyRequest): ApiCall | undefined;
  /** Notes in the log what was to change, by whom. */
  audit(request: FastifyRequest, reply: FastifyReply): void;
}

export function createApiAccess(
  context: ServerContext,
  find: FindToken,
  addressOf: ClientAddress,
  drain: Drain,
): ApiAccess {
  const turnAway = createTurningAway(context, addressOf);
  const visits = new WeakMap<FastifyRequest, ApiCall>();

  return {
    callOf: (request) => visits.get(request),

    authenticate(request, reply) {
      const requestId = requestIdOf(request) ?? context.random.text(REQUEST_ID_BYTES);
      reply.header('x-request-id', requestId);
      // What is answered is of this moment and for this asker.
      reply.header('cache-control', 'no-store');
      // Before anything is counted: whoever guesses behind the same address keeps nobody out who knows one. What is too
      // long to be guessed is not found sooner by being asked for more often.
      const token = find(request.headers.authorization);
      if (token === undefined) return turnAway(request, reply);
      visits.set(request, { token, requestId });
      return undefined;
    },

    authorize(scope, request, reply) {
      if (scope === 'read') return undefined;
      if (visits.get(request)?.token.scope !== 'write') {
        return sendProblem(reply, 'FORBIDDEN', { message: SCOPE_NEEDED });
      }
      return drain.draining ? sendProblem(reply, 'DRAINING', { retryAfterMs: DRAINING_RETRY_MS }) : undefined;
    },

    audit: (request, reply) => noteWrite(context.log, visits.get(request), request, reply),
  };
}

/** Of who knows no token: by the number of wrong ones from the same address. */
function createTurningAway({ clock, options }: ServerContext, addressOf: ClientAddress) {
  const guesses = createGuessLimiter(FREE_WRONG_TOKENS, clock);
  const detail = hasAdminTokens(options) ? {} : { message: NO_TOKEN };
  return (request: FastifyRequest, reply: FastifyReply): FastifyReply => {
    // Who brings none has not guessed.
    if (request.headers.authorization !== undefined) {
      const address = addressOf(request.raw);
      const retryAfterMs = guesses.waitOf(address);
      if (retryAfterMs > 0) {
        const message = 'Too many wrong tokens; wait before the next one.';
        return sendProblem(reply, 'RATE_LIMITED', { message, retryAfterMs });
      }
      guesses.recordMiss(address);
    }
    return sendProblem(reply.header('www-authenticate', 'Bearer'), 'UNAUTHENTICATED', detail);
  };
}

function requestIdOf({ headers }: FastifyRequest): string | undefined {
  const given = headers['x-request-id'];
  return typeof given === 'string' && REQUEST_ID.test(given) ? given : undefined;
}

function noteWrite(log: Log, visit: ApiCall | undefined, request: FastifyRequest, reply: FastifyReply): void {
  if (visit === undefined || request.method === 'GET' || request.method === 'HEAD') return;
  const { token, requestId, about } = visit;
  const route = `${request.method} ${request.routeOptions.url ?? 'elsewhere'}`;
  log.info(
    { token: token.name, route, status: reply.statusCode, requestId, ...about },
    'the API was asked to change something',
  );
}
