/** `/docs`: the document for people, and at `/docs/json` for programs. It tells no secrets, so it asks for no token. */
import swagger from '@fastify/swagger';
import swaggerUi from '@fastify/swagger-ui';
import type { FastifyInstance } from 'fastify';
import type { OpenAPIV3, OpenAPIV3_1 } from 'openapi-types';

/**
 * What the page needs beside the rest of the site: styles that its script writes into the page, and icons that stand in
 * its styles. Its scripts are files, as everywhere.
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
  // Its types stop at 3.0; it hands on what it is given.
  const given = document as unknown as OpenAPIV3.Document;
  app.register(swagger, { mode: 'static', specification: { document: given } });
  app.register(swaggerUi, {
    routePrefix: PATH,
    staticCSP: CONTENT_SECURITY_POLICY,
    uiConfig: { docExpansion: 'list', deepLinking: true, persistAuthorization: false },
    uiHooks: {
      onRequest: (request, reply, next) => {
        // With the slash, all that the page names lies below it, whatever stands before `/docs`.
        if (request.url.split('?')[0] === PATH) reply.redirect(`.${PATH}/`);
        else next();
      },
    },
  });
}

const PATH = '/docs';
