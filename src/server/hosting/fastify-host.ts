/** In a Fastify instance of somebody else's: its hooks run for our routes, nothing else of it reaches them, nor they it. */
import type { Server as HttpServer, IncomingMessage, ServerResponse } from 'node:http';
import type { Server as HttpsServer } from 'node:https';
import type { HttpRoute } from '../http/app.ts';
import { OptionError } from '../options/options.ts';

/** What is asked of a Fastify instance, whatever its version, its logger and its type provider. */
export interface FastifyHost {
  readonly server: HttpServer | HttpsServer;
  /** Of a plugin: what the paths of its routes begin with. */
  readonly prefix: string;
  register(plugin: (scope: FastifyScope) => Promise<void>, options: { prefix: string }): unknown;
}

interface FastifyScope {
  readonly prefix: string;
  removeAllContentTypeParsers(): unknown;
  addContentTypeParser(
    type: string,
    parse: (request: unknown, payload: unknown, done: (error: null) => void) => void,
  ): unknown;
  route(route: {
    method: string;
    url: string;
    exposeHeadRoute: boolean;
    handler: (request: { raw: unknown }, reply: { raw: unknown; hijack(): unknown }) => void;
  }): unknown;
  addHook(name: 'preClose', hook: () => Promise<void>): unknown;
}

interface EmbeddedRoutes {
  readonly prefix: string;
  /** Ends with a slash. */
  readonly socketPath: string;
  readonly transports: readonly string[];
  readonly routes: readonly HttpRoute[];
  /** Answers, as if the path began behind `prefix`. */
  readonly handle: (request: IncomingMessage, response: ServerResponse, prefix: string) => void;
  readonly close: () => Promise<void>;
}

/** @throws OptionError when polling cannot be there; Error when the instance takes no more routes. */
export function mountOnFastify(host: FastifyHost, guest: EmbeddedRoutes): void {
  const { prefix, routes, handle, close, transports, socketPath } = guest;
  // Its path is whole: it does not begin with our prefix, but it cannot leave that of the instance.
  if (transports.includes('polling') && !socketPath.startsWith(`${host.prefix}/`))
    throw new OptionError('socketPath', `must begin with ${host.prefix}/ there`);
  try {
    if (transports.includes('polling')) {
      const route = { method: ['GET', 'POST', 'OPTIONS'], url: socketPath.slice(host.prefix.length) };
      host.register(async (scope) => forward(scope, [route], handle), { prefix: '' });
    }
    host.register(
      async (scope) => {
        forward(scope, routes, handle);
        // Before Fastify waits for the connections to its server, which clients would not end by themselves.
        scope.addHook('preClose', close);
      },
      { prefix },
    );
  } catch (error) {
    throw new Error('a Fastify instance takes no more routes once it is ready: embed before', { cause: error });
  }
}

function forward(scope: FastifyScope, routes: readonly HttpRoute[], handle: EmbeddedRoutes['handle']): void {
  // Whoever answers reads the body.
  scope.removeAllContentTypeParsers();
  scope.addContentTypeParser('*', (_request, _payload, done) => done(null));
  for (const [method, url] of uniqueRoutes(routes)) {
    scope.route({
      method,
      url,
      exposeHeadRoute: false, // they are among the routes
      handler(request, reply) {
        reply.hijack();
        // Fastify’s types think of HTTP/2 too; those of a host do not let such a server in.
        handle(request.raw as IncomingMessage, reply.raw as ServerResponse, scope.prefix);
      },
    });
  }
}

/** Each once: Fastify adds some for others, says so of a few, and takes none twice. */
function uniqueRoutes(routes: readonly HttpRoute[]): readonly (readonly [method: string, url: string])[] {
  const pairs = routes.flatMap(({ method, url }) => [method].flat().map((one) => [one, url] as const));
  return [...new Map(pairs.map((pair) => [pair.join(' '), pair])).values()];
}
