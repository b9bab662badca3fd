/** Probes. `/healthz`: the process runs. `/readyz`: the node accepts clients. */
import type { FastifyInstance } from 'fastify';
import type { ServerContext } from '../context.ts';
import type { PoolFigures } from '../monitoring/pool-monitor.ts';
import type { Drain } from '../presence/drain.ts';
import { sendProblem } from './problem.ts';

export function addHealth(app: FastifyInstance, context: ServerContext, drain: Drain, pool: () => PoolFigures): void {
  const { engine, nodeId, options } = context;

  const detail = () => {
    const figures = pool();
    return {
      nodeId,
      engine: engine.name,
      store: engine.health().state,
      pool: { free: figures.free, total: figures.total, low: figures.free / figures.total < options.poolLowWater },
    };
  };

  app.get('/healthz', async () => ({ ok: true, nodeId }));
  app.get('/readyz', async (_request, reply) => {
    if (drain.draining) return sendProblem(reply, 'DRAINING', {}, detail());
    if (engine.health().state !== 'up') return sendProblem(reply, 'STORE_UNAVAILABLE', {}, detail());
    return { ok: true, ...detail() };
  });
}
