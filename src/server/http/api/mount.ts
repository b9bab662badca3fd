/** Makes routes of the operations: lets in, parses, runs, answers. */
import rateLimit from '@fastify/rate-limit';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { validatorCompiler } from 'fastify-type-provider-zod';
import { z } from 'zod';
import type { ErrorCode } from '../../../protocol/errors.ts';
import type { Log } from '../../../support/log.ts';
import type { Faults } from '../../faults.ts';
import { sendProblem } from '../problem.ts';
import type { ApiAccess } from './access.ts';
import { takeJsonOnly } from './body.ts';
import { ApiRefusal, failureOf, UNPROCESSABLE } from './failures.ts';
import type { Operation, OperationResult } from './operation.ts';

const MINUTE_MS = 60_000;
/** Those that somebody may try on a path that has others. */
const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;
/** A name that is misspelt is refused, not passed over. */
const NO_QUERY = z.strictObject({});

interface MountDeps {
  readonly access: ApiAccess;
  readonly faults: Faults;
  readonly log: Log;
  readonly perMinute: number;
}

/** @param routes those below the prefix of the API, and no others. */
export async function mount(
  routes: FastifyInstance,
  operations: readonly Operation[],
  parts: MountDeps,
): Promise<void> {
  const { access, faults, perMinute } = parts;
  const fail = (absent: ErrorCode) => (error: unknown, _request: FastifyRequest, reply: FastifyReply) => {
    const { code, detail } = failureOf(error, absent, faults);
    return sendProblem(reply, code, detail);
  };
  takeJsonOnly(routes);
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
  for (const operation of operations) addRoute(routes, operation, parts, fail(operation.absent ?? 'NOT_FOUND'));
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
      // Nothing at all says as much as an object without fields.
      if (body !== undefined) request.body ??= {};
    },
    handler: async (request, reply) => {
      const call = access.callOf(request);
      // Nobody comes here but through the access.
      if (call === undefined) return sendProblem(reply, 'UNAUTHENTICATED');
      const outcome = await operation.run({
        params: request.params,
        query: request.query,
        headers: request.headers,
        body: request.body,
        ...call,
        note: (about) => {
          call.about = about;
        },
      });
      if (outcome.ok) return answer(reply, outcome, log);
      const { code, ...detail } = outcome.error;
      return sendProblem(reply, code, { ...detail, ...(code === 'BAD_REQUEST' && { status: UNPROCESSABLE }) });
    },
  });
}

function answer(reply: FastifyReply, { status, headers = {}, body, stream }: OperationResult<unknown>, log: Log) {
  reply.code(status).headers(headers);
  const location = headers['location'];
  if (location !== undefined) reply.header('location', outside(reply.request) + location);
  if (stream === undefined) {
    // Not by the schema: zod cannot turn a brand, which is a transformation, into text again, and what is answered is
    // typed by that schema already. A test compares the answers with the document.
    return body === undefined ? reply.send() : reply.type('application/json; charset=utf-8').send(JSON.stringify(body));
  }
  reply.type(stream.type);
  if (reply.request.method === 'HEAD') {
    // All of it would be read, and written to nobody.
    stream.content.destroy();
    return reply.send();
  }
  // Its beginning is on the way already: the connection is cut, and whoever reads sees that the end is missing.
  stream.content.once('error', (error) => log.warn({ err: error }, 'an answer of the API was cut off'));
  return reply.send(stream.content);
}

/** What stands before our paths in the server around this one, where there is one. */
const outside = ({ url, originalUrl }: FastifyRequest): string =>
  originalUrl.endsWith(url) ? originalUrl.slice(0, -url.length) : '';

function refuseOtherMethods(routes: FastifyInstance, operations: readonly Operation[]): void {
  for (const path of new Set(operations.map((operation) => operation.path))) {
    const allowed = operations.filter((operation) => operation.path === path).map(({ method }) => method);
    const method = METHODS.filter((name) => !allowed.some((other) => other === name));
    const allow = (allowed.includes('GET') ? [...allowed, 'HEAD'] : allowed).join(', ');
    const refuse = async (_request: FastifyRequest, reply: FastifyReply) =>
      sendProblem(reply.header('allow', allow), 'BAD_REQUEST', { status: 405, message: `This path takes ${allow}.` });
    // Before its body is read, which may be anything.
    routes.route({ method, url: urlOf(path), exposeHeadRoute: false, onRequest: refuse, handler: refuse });
  }
}

const urlOf = (path: string): string => path.replaceAll(/\{(\w+)\}/g, ':$1');
