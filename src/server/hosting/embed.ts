/**
 * Embedding in the HTTP server of another program: requests for this server are forwarded to it, all others stay
 * untouched. The inner HTTP server never listens: it only keeps the listeners of Fastify and Socket.IO off the outer one.
 */
import type { Server as HttpServer, IncomingMessage, ServerResponse } from 'node:http';
import type { Server as HttpsServer } from 'node:https';
import type { Duplex } from 'node:stream';
import type { HttpRoute } from '../http/app.ts';
import { OptionError, type Options, type PartialOptions } from '../options/options.ts';
import { type FastifyHost, mountOnFastify } from './fastify-host.ts';
import { addUpgradeHandler } from './upgrade-router.ts';

/** The HTTP server to embed in. The caller creates it, listens with it, and closes it. */
export interface EmbedTarget {
  /** A server of `node:http` or `node:https`, or a Fastify instance, to which the routes are added. */
  readonly server: HttpServer | HttpsServer | FastifyHost;
  /** Path prefix of this server there, such as `/signaling`. It does not apply to Socket.IO: see `socketPath`. */
  readonly prefix?: string;
}

export interface EmbeddedServer {
  readonly handle: (request: IncomingMessage, response: ServerResponse) => void;
  /** Refuses new requests and destroys the remaining connections: those whose clients have not closed them. */
  detach(): void;
}

const PREFIX = /^(\/[A-Za-z0-9._~-]+)+$/;

/** Options of the outer server; and the demo page, which works at the root path of a server only. */
const STANDALONE_OPTIONS = ['host', 'port', 'headersTimeoutMs', 'keepAliveTimeoutMs', 'demo'] as const;

/** @throws OptionError for an option that an embedded server does not have. */
export function embeddedOptions(options: PartialOptions, { prefix = '' }: EmbedTarget): PartialOptions {
  for (const name of STANDALONE_OPTIONS) {
    if (options[name] !== undefined && options[name] !== false)
      throw new OptionError(name, 'cannot be set for an embedded server');
  }
  if (prefix !== '' && !PREFIX.test(prefix)) throw new OptionError('prefix', 'must be a path such as /signaling');
  return { ...options, demo: false };
}

/**
 * @param inner the HTTP server with the listeners of Fastify and Socket.IO.
 * @param close called before a Fastify instance closes, which would otherwise wait for open WebSockets.
 * @throws OptionError when another embedded server uses the same `socketPath` there.
 */
export function embed(
  { server, prefix = '' }: EmbedTarget,
  inner: HttpServer,
  routes: readonly HttpRoute[],
  options: Options,
  close: () => Promise<void>,
): EmbeddedServer {
  const { socketPath, transports } = options;
  const sockets = new Set<Duplex>();
  let isClosed = false;

  const handle = (request: IncomingMessage, response: ServerResponse, pathPrefix = prefix): void => {
    if (isClosed) {
      replyClosed(response);
      return;
    }
    if (isBodyConsumed(request))
      throw new Error('the request body has been read already: mount Signalbox before body parsers');
    const { url = '/' } = request;
    if (!url.startsWith(socketPath)) {
      // `originalUrl` is the name in Express, which Fastify reads as well.
      Object.assign(request, { originalUrl: Reflect.get(request, 'originalUrl') ?? url });
      request.url = stripPrefix(pathPrefix, url);
    }
    inner.emit('request', request, response);
  };

  const outer = 'register' in server ? server.server : server;
  const removeHandler = addUpgradeHandler(outer, socketPath, (request, socket, head) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
    inner.emit('upgrade', request, socket, head);
  });
  try {
    if ('register' in server) mountOnFastify(server, { prefix, socketPath, routes, transports, handle, close });
  } catch (error) {
    removeHandler();
    throw error;
  }
  return {
    handle: (request, response) => handle(request, response),
    detach() {
      isClosed = true;
      removeHandler();
      for (const socket of sockets) socket.destroy();
    },
  };
}

function stripPrefix(prefix: string, url: string): string {
  if (prefix === '' || !url.startsWith(prefix)) return url;
  const rest = url.slice(prefix.length);
  // `/signaling?a` is the root path; `/signalingelse` does not have the prefix.
  if (rest === '' || rest.startsWith('?')) return `/${rest}`;
  return rest.startsWith('/') ? rest : url;
}

/** Whether another parser has read the body: waiting for it would never end. */
const isBodyConsumed = ({ headers, readableEnded }: IncomingMessage): boolean =>
  readableEnded && (headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0);

function replyClosed(response: ServerResponse): void {
  const problem = { type: 'about:blank', title: 'The server is closed.', status: 503 };
  response.writeHead(503, { 'content-type': 'application/problem+json' }).end(JSON.stringify(problem));
}
