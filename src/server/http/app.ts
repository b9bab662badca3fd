/** The Fastify app: error replies, security headers, demo page and SDK file. Socket.IO uses the same HTTP server. */
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

/** Interval at which Node checks for requests with late headers. */
const HEADERS_CHECK_MS = 1000;

/** A route in Fastify’s terms. */
export interface HttpRoute {
  readonly method: string | string[];
  readonly url: string;
}

/** @param onRoute is called for every route, including those added later. */
export async function createApp(
  options: Options,
  faults: Faults,
  log: Log,
  onRoute: (route: HttpRoute) => void,
): Promise<FastifyInstance> {
  const app = fastify({
    logger: false,
    forceCloseConnections: true,
    http: { headersTimeout: options.headersTimeoutMs, connectionsCheckingInterval: HEADERS_CHECK_MS },
    // Fastify's default is no limit. No request here has a body that takes longer than this.
    requestTimeout: options.headersTimeoutMs,
    frameworkErrors: (_error, _request, reply) => sendProblem(reply, 'BAD_REQUEST'),
  });
  app.addHook('onRoute', ({ method, url, prefix }) => {
    onRoute({ method, url });
    // Fastify adds the root of a prefix with and without a slash, but calls the hook once.
    if (url === prefix) onRoute({ method, url: `${url}/` });
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
  if (options.demo && !hasDemo) log.warn('the demo page is not served: it works with the default socketPath only');
  const root = hasDemo ? demoFolder() : undefined;
  if (hasDemo && root === undefined) log.warn('the demo page is not served: run `npm run build` to build it');
  if (root !== undefined) await app.register(serveStatic, { root, cacheControl: false, setHeaders: setCaching });
  if (options.sdk && !(await addSdk(app))) log.warn('the SDK is not served: run `npm run build` to build it');
  return app;
}

/** Assets have a digest in their names and are cached for ever; the page that refers to them is always revalidated. */
function setCaching(response: { setHeader(name: string, value: string): unknown }, path: string): void {
  const isAsset = path.includes('/assets/');
  response.setHeader('cache-control', isAsset ? 'public, max-age=31536000, immutable' : 'no-cache');
}

const CONTENT_SECURITY_POLICY = {
  defaultSrc: ["'self'"],
  // Includes the WebSocket, which browsers count as the same origin.
  connectSrc: ["'self'"],
  styleSrc: ["'self'"],
  scriptSrc: ["'self'"],
  objectSrc: ["'none'"],
  baseUri: ["'none'"],
  formAction: ["'self'"],
  frameAncestors: ["'none'"],
};

/** The built page is in `dist/client-demo`, whether this file runs from `src` or from `dist`. */
function demoFolder(): string | undefined {
  const folders = ['../../client-demo', '../../../dist/client-demo'].map((path) =>
    fileURLToPath(new URL(path, import.meta.url)),
  );
  return folders.find((folder) => existsSync(`${folder}/index.html`) && folder.endsWith('/dist/client-demo'));
}
