/** The administrative API, behind a bearer token. */
import { createHash, timingSafeEqual } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import type { Allocation } from '../allocation.ts';
import type { House } from '../house.ts';
import { poolOf } from '../options.ts';
import { sumUp } from '../pool-watch.ts';
import { sendProblem } from './problem.ts';

export function addAdmin(app: FastifyInstance, { options }: House, allocation: Allocation): void {
  const isAdmin = bearerCheck(options.adminToken);
  const pool = poolOf(options);

  app.register(async (routes) => {
    routes.addHook('onRequest', async (request, reply) => {
      if (!isAdmin(request.headers.authorization)) {
        reply.header('www-authenticate', 'Bearer');
        return sendProblem(reply, 'UNAUTHENTICATED');
      }
    });
    routes.get('/v1/pool', async () => {
      const stock = await allocation.stock();
      const shards = stock.map(({ occupied, cooling }, shard) => ({
        shard,
        free: pool.perShard - occupied - cooling,
        occupied,
        cooling,
      }));
      return { ...sumUp(pool, stock), shards };
    });
  });
}

/** Compares digests, which are of one length, so that the time it takes tells nothing of the token. */
function bearerCheck(token: string | undefined): (authorization: string | undefined) => boolean {
  if (token === undefined) return () => false;
  const digest = (text: string) => createHash('sha256').update(text).digest();
  const expected = digest(`Bearer ${token}`);
  return (authorization) => authorization !== undefined && timingSafeEqual(digest(authorization), expected);
}
