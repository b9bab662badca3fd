/**
 * A server inside somebody else's: it is handed the requests that are meant for it, and changes nothing about the
 * others. Its own HTTP server never listens; what Fastify and Socket.IO do to that one, the other does not see.
 */
import type { Server as HttpServer, IncomingMessage, ServerResponse } from 'node:http';
import type { Server as HttpsServer } from 'node:https';
import type { Duplex } from 'node:stream';
import type { HttpRoute } from '../http/app.ts';
import { OptionError, type Options, type PartialOptions } from '../options/options.ts';
import { type FastifyHost, mountOnFastify } from './fastify-host.ts';
import { addUpgradeHandler } from './upgrade-router.ts';

/** Where a server is embedded. The caller made it, listens with it, and closes it. */
export interface EmbedTarget {
  /** One of `node:http` or `node:https`, or a Fastify instance, which is given the routes of this server. */
  readonly server: HttpServer | HttpsServer | FastifyHost;
  /** What the paths of this server begin with there, such as `/signaling`. Not that of Socket.IO: see `socketPath`. */
  readonly prefix?: string;
}

export interface EmbeddedServer {
  readonly handle: (request: IncomingMessage, response: ServerResponse) => void;
  /** Takes nobody in any more, and ends the connections that are left: those that do not answer a farewell. */
  detach(): void;
}

const PREFIX = /^(\/[A-Za-z0-9._~-]+)+$/;

/** Options that are those of the program around it; and the demo page, which is at home at the root of a server. */
const STANDALONE_OPTIONS = ['host', 'port', 'headersTimeoutMs', 'demo'] as const;

/** @throws OptionError for what has no meaning in another server. */
export function embeddedOptions(options: PartialOptions, { prefix = '' }: EmbedTarget): PartialOptions {
  for (const name of STANDALONE_OPTIONS) {
    if (options[name] !== undefined && options[name] !== false)
      throw new OptionError(name, 'is for a server of its own, and this one is embedded');
  }
  if (prefix !== '' && !PREFIX.test(prefix)) throw new OptionError('prefix', 'must be such as /signaling');
  return { ...options, demo: false };
}

/**
 * @param inner its own server, which has the listeners of Fastify and Socket.IO.
 * @param close for a Fastify instance, which would wait for the connections of clients.
 * @throws OptionError when another server has the `socketPath` there.
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
  let isShut = false;

  const handle = (request: IncomingMessage, response: ServerResponse, under = prefix): void => {
    if (isShut) {
      answerClosed(response);
      return;
    }
    if (isBodyConsumed(request))
      throw new Error('the body has been read already: hand requests over before they are parsed');
    const { url = '/' } = request;
    if (!url.startsWith(socketPath)) {
      // Under the name that it has in Express: Fastify knows it, too.
      Object.assign(request, { originalUrl: Reflect.get(request, 'originalUrl') ?? url });
      request.url = stripPrefix(under, url);
    }
    inner.emit('request', request, response);
  };

  const outer = 'register' in server ? server.server : server;
  const stopTaking = addUpgradeHandler(outer, socketPath, (request, socket, head) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
    inner.emit('upgrade', request, socket, head);
  });
  try {
    if ('register' in server) mountOnFastify(server, { prefix, socketPath, routes, transports, handle, close });
  } catch (error) {
    stopTaking();
    throw error;
  }
  return {
    handle: (request, response) => handle(request, response),
    detach() {
      isShut = true;
      stopTaking();
      for (const socket of sockets) socket.destroy();
    },
  };
}

function stripPrefix(prefix: string, url: string): string {
  if (prefix === '' || !url.startsWith(prefix)) return url;
  const rest = url.slice(prefix.length);
  // `/signaling?a` is our root, `/signalingelse` is not ours.
  if (rest === '' || rest.startsWith('?')) return `/${rest}`;
  return rest.startsWith('/') ? rest : url;
}

/** Who waits for a body that somebody else has read waits for ever. */
const isBodyConsumed = ({ headers, readableEnded }: IncomingMessage): boolean =>
  readableEnded && (headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0);

function answerClosed(response: ServerResponse): void {
  const problem = { type: 'about:blank', title: 'The server is closed.', status: 503 };
  response.writeHead(503, { 'content-type': 'application/problem+json' }).end(JSON.stringify(problem));
}
