/** Mounts the operations as Fastify routes: authenticate, validate, run, reply. */
import rateLimit from '@fastify/rate-limit';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { validatorCompiler } from 'fastify-type-provider-zod';
import { z } from 'zod';
import type { ErrorCode } from '../../../protocol/errors.ts';
import type { Log } from '../../../support/log.ts';
import type { Faults } from '../../faults.ts';
import { sendProblem } from '../problem.ts';
import type { ApiAccess } from './access.ts';
import { acceptJsonOnly } from './body.ts';
import { ApiRefusal, failureOf, UNPROCESSABLE } from './failures.ts';
import type { Operation, OperationResult } from './operation.ts';

const MINUTE_MS = 60_000;
/** Methods that are answered with 405 on a path that does not have them. */
const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;
/** For operations without a query: unknown parameters are refused, because a misspelt filter would be ignored. */
const NO_QUERY = z.strictObject({});

interface MountDeps {
  readonly access: ApiAccess;
  readonly faults: Faults;
  readonly log: Log;
  readonly perMinute: number;
}

/** @param routes the Fastify scope of the API prefix. */
export async function mount(routes: FastifyInstance, operations: readonly Operation[], deps: MountDeps): Promise<void> {
  const { access, faults, perMinute } = deps;
  const fail = (notFoundCode: ErrorCode) => (error: unknown, _request: FastifyRequest, reply: FastifyReply) => {
    const { code, detail } = failureOf(error, notFoundCode, faults);
    return sendProblem(reply, code, detail);
  };
  acceptJsonOnly(routes);
  routes.setValidatorCompiler(validatorCompiler);
  routes.setErrorHandler(fail('NOT_FOUND'));
  routes.setNotFoundHandler((_request, reply) => sendProblem(reply, 'NOT_FOUND'));
  routes.addHook('onRequest', async (request, reply) => access.authenticate(request, reply));
  routes.addHook('onResponse', async (request, reply) => access.audit(request, reply));
  await routes.register(rateLimit, {
    max: perMinute,
    timeWindow: MINUTE_MS,
    keyGenerator: (request) => access.callOf(request)?.token.name ?? '',
    errorResponseBuilder: (_request, { ttl }) => new ApiRefusal('RATE_LIMITED', { retryAfterMs: ttl }),
  });
  for (const operation of operations) addRoute(routes, operation, deps, fail(operation.notFoundCode ?? 'NOT_FOUND'));
  refuseOtherMethods(routes, operations);
}

function addRoute(
  routes: FastifyInstance,
  operation: Operation,
  { access, log }: MountDeps,
  errorHandler: (error: unknown, request: FastifyRequest, reply: FastifyReply) => FastifyReply,
): void {
  const { method, path, scope, params, query = NO_QUERY, headers, body } = operation;
  routes.route({
    method,
    url: urlOf(path),
    schema: {
      querystring: query,
      ...(params !== undefined && { params }),
      ...(headers !== undefined && { headers }),
      ...(body !== undefined && { body }),
    },
    errorHandler,
    onRequest: [async (request, reply) => access.authorize(scope, request, reply)],
    preValidation: async (request) => {
      // A missing body counts as an empty object.
      if (body !== undefined) request.body ??= {};
    },
    handler: async (request, reply) => {
      const call = access.callOf(request);
      // Never undefined: the onRequest hook has authenticated the request. For the compiler.
      if (call === undefined) return sendProblem(reply, 'UNAUTHENTICATED');
      const result = await operation.run({
        params: request.params,
        query: request.query,
        headers: request.headers,
        body: request.body,
        ...call,
        setSubject: (about) => {
          call.subject = about;
        },
      });
      if (result.ok) return send(reply, result, log);
      const { code, ...detail } = result.error;
      return sendProblem(reply, code, { ...detail, ...(code === 'BAD_REQUEST' && { status: UNPROCESSABLE }) });
    },
  });
}

function send(reply: FastifyReply, { status, headers = {}, body, stream }: OperationResult<unknown>, log: Log) {
  reply.code(status).headers(headers);
  const location = headers['location'];
  if (location !== undefined) reply.header('location', outerPrefix(reply.request) + location);
  if (stream === undefined) {
    // Serialized without the schema: zod cannot reverse a transformation, such as a brand, and the body has the type of
    // that schema already. A test validates the responses against the document.
    return body === undefined ? reply.send() : reply.type('application/json; charset=utf-8').send(JSON.stringify(body));
  }
  reply.type(stream.type);
  if (reply.request.method === 'HEAD') {
    // Otherwise the whole stream would be read and discarded.
    stream.content.destroy();
    return reply.send();
  }
  // The status has been sent already, so the connection is cut: the client sees an incomplete response.
  stream.content.once('error', (error) => log.warn({ err: error }, 'a response of the API was cut off'));
  return reply.send(stream.content);
}

/** The path prefix of an embedding server, such as `/signaling`; empty without one. */
const outerPrefix = ({ url, originalUrl }: FastifyRequest): string =>
  originalUrl.endsWith(url) ? originalUrl.slice(0, -url.length) : '';

function refuseOtherMethods(routes: FastifyInstance, operations: readonly Operation[]): void {
  for (const path of new Set(operations.map((operation) => operation.path))) {
    const allowed = operations.filter((operation) => operation.path === path).map(({ method }) => method);
    const method = METHODS.filter((name) => !allowed.some((other) => other === name));
    const allow = (allowed.includes('GET') ? [...allowed, 'HEAD'] : allowed).join(', ');
    const refuse = async (_request: FastifyRequest, reply: FastifyReply) =>
      sendProblem(reply.header('allow', allow), 'BAD_REQUEST', { status: 405, message: `This path takes ${allow}.` });
    // On request: before a body of any type and size is read.
    routes.route({ method, url: urlOf(path), exposeHeadRoute: false, onRequest: refuse, handler: refuse });
  }
}

const urlOf = (path: string): string => path.replaceAll(/\{(\w+)\}/g, ':$1');
