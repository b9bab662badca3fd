/** The Fastify app: error replies, security headers, demo page and SDK file. Socket.IO uses the same HTTP server. */
import { Readable } from 'node:stream';
import helmet from '@fastify/helmet';
import fastify, { type FastifyInstance } from 'fastify';
import type { Log } from '../../support/log.ts';
import type { Faults } from '../faults.ts';
import { whyAmbiguous } from '../limits/request-head.ts';
import { DEFAULT_SOCKET_PATH, type Options } from '../options/options.ts';
import { addDemo } from './demo.ts';
import type { OpenAnswers } from './open-answers.ts';
import { sendProblem } from './problem.ts';
import { addSdk } from './sdk.ts';
import { refuseExpectations, refuseUnreadable } from './unreadable.ts';

/** Interval at which Node checks for requests with late headers. */
const HEADERS_CHECK_MS = 1000;
/** A connection on which nothing moves for this long while an answer is under way is ended: its client does not read. */
const UNREAD_MS = 60_000;
/** Requests on one connection, before its client has to open another. */
const MAX_REQUESTS_PER_SOCKET = 1000;

/** A route in Fastify’s terms. */
export interface HttpRoute {
  readonly method: string | string[];
  readonly url: string;
}

export interface AppDeps {
  readonly options: Options;
  readonly faults: Faults;
  readonly log: Log;
  readonly answers: OpenAnswers;
  /** Called for every route, including those added later. */
  readonly onRoute: (route: HttpRoute) => void;
}

export async function createApp({ options, faults, log, answers, onRoute }: AppDeps): Promise<FastifyInstance> {
  const app = createFastify(options, answers);
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
  addRequestHooks(app, answers);
  addPages(app, options, log);
  return app;
}

function createFastify(options: Options, answers: OpenAnswers): FastifyInstance {
  const app = fastify({
    logger: false,
    forceCloseConnections: true,
    http: {
      headersTimeout: options.headersTimeoutMs,
      connectionsCheckingInterval: HEADERS_CHECK_MS,
      // Checked together with the rest of the head: Node's refusal is an empty answer.
      requireHostHeader: false,
    },
    // Fastify's default is no limit. No request here has a body that takes longer than this.
    requestTimeout: options.headersTimeoutMs,
    keepAliveTimeout: options.keepAliveTimeoutMs,
    // A long poll is silent between two pings.
    connectionTimeout: Math.max(UNREAD_MS, 2 * (options.pingIntervalMs + options.pingTimeoutMs)),
    maxRequestsPerSocket: MAX_REQUESTS_PER_SOCKET,
    clientErrorHandler: (error, socket) => refuseUnreadable(answers, error, socket),
    frameworkErrors: (_error, _request, reply) => void sendProblem(reply.header('connection', 'close'), 'BAD_REQUEST'),
  });
  refuseExpectations(app.server);
  return app;
}

function addRequestHooks(app: FastifyInstance, answers: OpenAnswers): void {
  app.addHook('onRequest', (request, reply, next) => {
    const message = whyAmbiguous(request.raw);
    if (message === undefined) next();
    // What follows on the connection may be read differently as well.
    else void sendProblem(reply.header('connection', 'close'), 'BAD_REQUEST', { message });
  });
  app.addHook('onSend', (request, reply, payload, next) => {
    if (payload instanceof Readable) answers.readFrom(payload, request.raw, reply.raw);
    next();
  });
}

function addPages(app: FastifyInstance, options: Options, log: Log): void {
  const hasDemo = options.demo && options.socketPath === DEFAULT_SOCKET_PATH;
  if (options.demo && !hasDemo) log.warn('the demo page is not served: it works with the default socketPath only');
  if (hasDemo && !addDemo(app)) log.warn('the demo page is not served: run `npm run build` to build it');
  if (options.sdk && !addSdk(app)) log.warn('the SDK is not served: run `npm run build` to build it');
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
