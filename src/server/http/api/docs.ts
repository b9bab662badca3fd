/** The OpenAPI document as a page at `/docs` and as JSON at `/docs/json`. It holds no secrets, so it needs no token. */
import swagger from '@fastify/swagger';
import swaggerUi from '@fastify/swagger-ui';
import type { FastifyInstance } from 'fastify';
import type { OpenAPIV3, OpenAPIV3_1 } from 'openapi-types';

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

export function addDocs(app: FastifyInstance, document: OpenAPIV3_1.Document): void {
  // Cast: the plugin’s types end at OpenAPI 3.0, but it passes the document on unchanged.
  const specification = document as unknown as OpenAPIV3.Document;
  app.register(swagger, { mode: 'static', specification: { document: specification } });
  app.register(swaggerUi, {
    routePrefix: PATH,
    staticCSP: CONTENT_SECURITY_POLICY,
    uiConfig: { docExpansion: 'list', deepLinking: true, persistAuthorization: false },
    uiHooks: {
      onRequest: (request, reply, next) => {
        // The relative URLs of the page need the trailing slash, and so work behind any path prefix.
        if (request.url.split('?')[0] === PATH) reply.redirect(`.${PATH}/`);
        else next();
      },
    },
  });
}

const PATH = '/docs';
