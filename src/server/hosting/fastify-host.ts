/** Embedding in the Fastify instance of another program: its hooks run for these routes; its parsers, handlers and error handling do not. */
import type { Server as HttpServer, IncomingMessage, ServerResponse } from 'node:http';
import type { Server as HttpsServer } from 'node:https';
import type { HttpRoute } from '../http/app.ts';
import { OptionError } from '../options/options.ts';

/** The part of a Fastify instance that is used: independent of its version, logger and type provider. */
export interface FastifyHost {
  readonly server: HttpServer | HttpsServer;
  /** Path prefix, when the instance is that of a plugin. */
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
  /** Handles a request, with `prefix` removed from its path. */
  readonly handle: (request: IncomingMessage, response: ServerResponse, prefix: string) => void;
  readonly close: () => Promise<void>;
}

/** @throws OptionError when the path of polling is outside the prefix of the instance; Error when the instance is ready already. */
export function mountOnFastify(host: FastifyHost, embedded: EmbeddedRoutes): void {
  const { prefix, routes, handle, close, transports, socketPath } = embedded;
  // `socketPath` is absolute: it ignores our prefix, but routes of the instance always have its own prefix.
  if (transports.includes('polling') && !socketPath.startsWith(`${host.prefix}/`))
    throw new OptionError('socketPath', `must begin with ${host.prefix}/, the prefix of the Fastify instance`);
  try {
    if (transports.includes('polling')) {
      const route = { method: ['GET', 'POST', 'OPTIONS'], url: socketPath.slice(host.prefix.length) };
      host.register(async (scope) => forward(scope, [route], handle), { prefix: '' });
    }
    host.register(
      async (scope) => {
        forward(scope, routes, handle);
        // preClose: Fastify then waits for open connections, which clients would not close by themselves.
        // Not `close` itself: it declares a parameter, so Fastify would pass a callback and wait until it is called.
        scope.addHook('preClose', () => close());
      },
      { prefix },
    );
  } catch (error) {
    throw new Error('a Fastify instance accepts no routes once it is ready: embed before that', { cause: error });
  }
}

function forward(scope: FastifyScope, routes: readonly HttpRoute[], handle: EmbeddedRoutes['handle']): void {
  // The inner server reads the body.
  scope.removeAllContentTypeParsers();
  scope.addContentTypeParser('*', (_request, _payload, done) => done(null));
  for (const [method, url] of uniqueRoutes(routes)) {
    scope.route({
      method,
      url,
      exposeHeadRoute: false, // HEAD routes are in the list already
      handler(request, reply) {
        reply.hijack();
        // Cast: Fastify’s types include HTTP/2, which the type of a host excludes.
        handle(request.raw as IncomingMessage, reply.raw as ServerResponse, scope.prefix);
      },
    });
  }
}

/** Removes duplicates: Fastify reports some routes twice, and refuses a duplicate. */
function uniqueRoutes(routes: readonly HttpRoute[]): readonly (readonly [method: string, url: string])[] {
  const pairs = routes.flatMap(({ method, url }) => [method].flat().map((single) => [single, url] as const));
  return [...new Map(pairs.map((pair) => [pair.join(' '), pair])).values()];
}
