/** The OpenAPI document as a page at `/docs` and as JSON at `/docs/json`. It holds no secrets, so it needs no token. */
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import swagger from '@fastify/swagger';
import swaggerUi from '@fastify/swagger-ui';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { OpenAPIV3, OpenAPIV3_1 } from 'openapi-types';
import { readFile, sendFile } from '../file.ts';
import { sendProblem } from '../problem.ts';

/**
 * Swagger UI needs more than the rest of the site: inline styles, which its script inserts, and `data:` icons in its
 * style sheets. Its scripts are files.
 */
const CONTENT_SECURITY_POLICY = {
  'default-src': ["'self'"],
  'connect-src': ["'self'"],
  'style-src': ["'self'", "'unsafe-inline'"],
  'script-src': ["'self'"],
  'img-src': ["'self'", 'data:'],
  'object-src': ["'none'"],
  'base-uri': ["'none'"],
  'form-action': ["'self'"],
  'frame-ancestors': ["'none'"],
};

const PATH = '/docs';
const STATIC_PATH = `${PATH}/static/`;
/** The files that the page names. The library has more, among them a page of its own and one for OAuth. */
const STATIC_FILES = [
  'favicon-16x16.png',
  'favicon-32x32.png',
  'index.css',
  'swagger-ui-bundle.js',
  'swagger-ui-standalone-preset.js',
  'swagger-ui.css',
] as const;
/** Below the same path, but made from the settings by a route of the library. */
const INITIALIZER = 'swagger-initializer.js';

export function addDocs(app: FastifyInstance, document: OpenAPIV3_1.Document): void {
  // Cast: the plugin’s types end at OpenAPI 3.0, but it passes the document on unchanged.
  const specification = document as unknown as OpenAPIV3.Document;
  app.register(swagger, { mode: 'static', specification: { document: specification } });
  app.register(async (scope) => {
    scope.addHook('onRequest', serveStaticFiles());
    await scope.register(swaggerUi, {
      routePrefix: PATH,
      staticCSP: CONTENT_SECURITY_POLICY,
      uiConfig: { docExpansion: 'list', deepLinking: true, persistAuthorization: false },
      uiHooks: {
        onRequest: (request, reply, next) => {
          // The relative URLs of the page need the trailing slash, and so work behind any path prefix.
          if (pathOf(request) === PATH) reply.redirect(`.${PATH}/`);
          else next();
        },
      },
    });
  });
}

/** Answers from memory before the route of the library does, which opens the file for each request. */
function serveStaticFiles() {
  const folder = join(dirname(createRequire(import.meta.url).resolve('@fastify/swagger-ui')), 'static');
  const files = new Map<string, ReturnType<typeof readFile>>(
    STATIC_FILES.map((name) => [name, readFile(join(folder, name))]),
  );
  return (request: FastifyRequest, reply: FastifyReply, next: () => void): void => {
    const path = pathOf(request);
    const name = path.slice(STATIC_PATH.length);
    const file = files.get(name);
    if (!`${path}/`.startsWith(STATIC_PATH) || name === INITIALIZER) next();
    else if (file === undefined) void sendProblem(reply, 'NOT_FOUND');
    else void sendFile(request, reply.header('cache-control', 'public, max-age=300'), file);
  };
}

const pathOf = ({ url }: FastifyRequest): string => url.split('?', 1)[0] ?? '';
