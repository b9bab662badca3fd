/** The HTTP side: the demo page, health, the administrative API. Socket.IO shares its server. */
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import helmet from '@fastify/helmet';
import serveStatic from '@fastify/static';
import fastify, { type FastifyInstance } from 'fastify';
import type { Log } from '../../support/log.ts';
import type { Faults } from '../faults.ts';
import { DEFAULT_SOCKET_PATH, type Options } from '../options/options.ts';
import { sendProblem } from './problem.ts';
import { addSdk } from './sdk.ts';

/** How often Node looks for requests whose headers are late. */
const HEADERS_CHECK_MS = 1000;

/** As Fastify names it. */
export interface HttpRoute {
  readonly method: string | string[];
  readonly url: string;
}

/** @param notice is told every route that is added, now or later. */
export async function createApp(
  options: Options,
  faults: Faults,
  log: Log,
  notice: (route: HttpRoute) => void,
): Promise<FastifyInstance> {
  const app = fastify({
    logger: false,
    forceCloseConnections: true,
    http: { headersTimeout: options.headersTimeoutMs, connectionsCheckingInterval: HEADERS_CHECK_MS },
    // Fastify's own default is for ever: nothing that is sent here is so long that its body may take longer.
    requestTimeout: options.headersTimeoutMs,
    frameworkErrors: (_error, _request, reply) => sendProblem(reply, 'BAD_REQUEST'),
  });
  app.addHook('onRoute', ({ method, url, prefix }) => {
    notice({ method, url });
    // Fastify adds the root of a prefix twice, and says it once.
    if (url === prefix) notice({ method, url: `${url}/` });
  });
  app.setErrorHandler((error: { statusCode?: number }, _request, reply) => {
    if (error.statusCode !== undefined && error.statusCode < 500) return sendProblem(reply, 'BAD_REQUEST');
    const { code, detail } = faults(error, 'http');
    return sendProblem(reply, code, detail);
  });
  app.setNotFoundHandler((_request, reply) => sendProblem(reply, 'NOT_FOUND'));
  await app.register(helmet, {
    contentSecurityPolicy: { useDefaults: false, directives: CONTENT_SECURITY_POLICY },
    hsts: false,
  });
  const hasDemo = options.demo && options.socketPath === DEFAULT_SOCKET_PATH;
  if (options.demo && !hasDemo) log.warn('the demo page is not served: it knows no other socketPath than the default');
  const root = hasDemo ? demoFolder() : undefined;
  if (hasDemo && root === undefined) log.warn('there is no demo page to serve: `npm run build` makes it');
  if (root !== undefined) await app.register(serveStatic, { root, cacheControl: false, setHeaders: setCaching });
  if (options.sdk && !(await addSdk(app))) log.warn('there is no SDK to serve: `npm run build` makes it');
  return app;
}

/** Assets carry their digest in their names; the page that names them must be asked for every time. */
function setCaching(response: { setHeader(name: string, value: string): unknown }, path: string): void {
  const isAsset = path.includes('/assets/');
  response.setHeader('cache-control', isAsset ? 'public, max-age=31536000, immutable' : 'no-cache');
}

const CONTENT_SECURITY_POLICY = {
  defaultSrc: ["'self'"],
  // The WebSocket too: to browsers it is of the same origin.
  connectSrc: ["'self'"],
  styleSrc: ["'self'"],
  scriptSrc: ["'self'"],
  objectSrc: ["'none'"],
  baseUri: ["'none'"],
  formAction: ["'self'"],
  frameAncestors: ["'none'"],
};

/** The built page lies in `dist/client-demo`, whether this file runs from `src` or from `dist`. */
function demoFolder(): string | undefined {
  const folders = ['../../client-demo', '../../../dist/client-demo'].map((path) =>
    fileURLToPath(new URL(path, import.meta.url)),
  );
  return folders.find((folder) => existsSync(`${folder}/index.html`) && folder.endsWith('/dist/client-demo'));
}
