/** Probes. `/healthz`: the process runs. `/readyz`: the node accepts clients. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { StoreHealth } from '../../support/store.ts';
import { createTokenCheck, readAdminTokens } from '../auth/admin-tokens.ts';
import type { ServerContext } from '../context.ts';
import type { ClientAddress } from '../limits/client-address.ts';
import type { GuessLimiter } from '../limits/guess-limiter.ts';
import type { PoolFigures } from '../monitoring/pool-monitor.ts';
import type { Options } from '../options/options.ts';
import type { Drain } from '../presence/drain.ts';
import { sendProblem } from './problem.ts';

interface HealthParts {
  readonly context: ServerContext;
  readonly drain: Drain;
  readonly pool: () => PoolFigures;
  readonly addressOf: ClientAddress;
  /** By address, together with those that the API was sent: else tokens would be tried here. */
  readonly wrongTokens: GuessLimiter;
}

export function addHealth(app: FastifyInstance, { context, drain, pool, ...guard }: HealthParts): void {
  const { engine, nodeId, options } = context;
  const isOperator = operatorCheck(options, guard);

  /** For anybody who reaches the port: whether each part works, and neither addresses nor figures. */
  const parts = () => ({ store: engine.health().state === 'up' ? 'up' : 'down', draining: drain.leaving });
  /** For operators. */
  const details = () => {
    const { free, total } = pool();
    return {
      nodeId,
      engine: engine.name,
      stores: storeHealth(context),
      pool: { free, total, low: free / total < options.poolLowWater },
    };
  };

  app.get('/healthz', async (_request, reply) => {
    reply.header('cache-control', 'no-store');
    return { ok: true, nodeId };
  });
  app.get('/readyz', async (request, reply) => {
    const body = { ...parts(), ...(isOperator(request) && details()) };
    reply.header('cache-control', 'no-store').header('vary', 'authorization');
    if (drain.leaving) return sendProblem(reply, 'DRAINING', {}, body);
    if (body.store !== 'up') return sendProblem(reply, 'STORE_UNAVAILABLE', {}, body);
    return { ok: true, ...body };
  });
  endConnectionsWhileLeaving(app, drain);
}

/**
 * Only a known token makes a difference: a probe is never refused, whatever it sends and however often it comes. From an
 * address that has sent too many wrong ones, no token is known.
 */
function operatorCheck(
  { adminToken, adminTokens }: Options,
  { addressOf, wrongTokens }: Pick<HealthParts, 'addressOf' | 'wrongTokens'>,
): (request: FastifyRequest) => boolean {
  const findToken = createTokenCheck(readAdminTokens(adminToken, adminTokens));
  return ({ headers: { authorization }, raw }) => {
    if (authorization === undefined) return false;
    const address = addressOf(raw);
    if (wrongTokens.waitOf(address) > 0) return false;
    const isKnown = findToken(authorization) !== undefined;
    if (!isKnown) wrongTokens.recordMiss(address);
    return isKnown;
  };
}

/**
 * What each store last failed at, and since when. Only the one of the rooms decides about readiness: without the others
 * calls go on, and as all nodes share them, no other node would do better.
 */
function storeHealth({ engine, references, calls, webhooks }: ServerContext) {
  const stores: Readonly<Record<string, StoreHealth>> = {
    rooms: engine.health(),
    ...references.health?.(),
    ...(calls && { records: calls.health() }),
    ...(webhooks && { webhooks: webhooks.health() }),
  };
  return Object.fromEntries(
    Object.entries(stores).map(([name, health]) => [name, { ...health, since: new Date(health.since).toISOString() }]),
  );
}

/**
 * While a node leaves, each answer is the last on its connection: a proxy that keeps connections opens the next one to
 * another node, and none is cut when the node closes.
 */
function endConnectionsWhileLeaving(app: FastifyInstance, drain: Drain): void {
  app.addHook('onSend', ({ raw }, reply: FastifyReply, _payload, next) => {
    // HTTP/2, in an embedding server, has no such header.
    if (drain.leaving && raw.httpVersionMajor === 1) reply.header('connection', 'close');
    next();
  });
}
