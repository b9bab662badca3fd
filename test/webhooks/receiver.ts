/** A back end that is sent events: a real HTTP server, which answers as a test says. */
import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type { FeedEvent } from '../../src/protocol/feed.ts';

export interface Received {
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  readonly event: FeedEvent;
  readonly path: string;
}

/** Answers a request, or leaves it open. */
export type Behaviour = (response: ServerResponse, received: Received) => void;

export const answers =
  (status: number, headers: Record<string, string> = {}) =>
  (response: ServerResponse): void =>
    void response.writeHead(status, headers).end();

export interface Receiver extends AsyncDisposable {
  readonly url: string;
  readonly received: readonly Received[];
  /** The ids of the events that it answered with 204. */
  readonly taken: readonly string[];
  behave(behaviour: Behaviour): void;
  /** Resolves as soon as it is so; asked anew after each request and each answer. */
  until(isSo: () => boolean): Promise<void>;
  /** Closes, without a word to those who wait for an answer, and comes back at the same port. */
  restart(): Promise<void>;
}

const PATIENCE_MS = 60_000;
const TAKES = answers(204);

export async function startReceiver(path = '/hooks'): Promise<Receiver> {
  const received: Received[] = [];
  const taken: string[] = [];
  const watchers = new Set<() => void>();
  let behaviour: Behaviour = TAKES;
  const look = () => {
    for (const watcher of watchers) watcher();
  };
  const listenAt = (port: number): Promise<Server> => {
    const server = createServer((request, response) => {
      void text(request).then((body) => {
        const one = { headers: request.headers, body, event: JSON.parse(body), path: request.url ?? '' };
        received.push(one);
        response.once('finish', () => {
          if (response.statusCode === 204) taken.push(one.event.id);
          look();
        });
        behaviour(response, one);
        look();
      }, look);
    });
    return new Promise((resolve) => server.listen(port, '127.0.0.1', () => resolve(server)));
  };
  const end = (server: Server) =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  let server = await listenAt(0);
  const { port } = server.address() as AddressInfo; // it listens on TCP
  return {
    url: `http://127.0.0.1:${port}${path}`,
    received,
    taken,
    behave(next) {
      behaviour = next;
    },
    until: (isSo) =>
      new Promise((resolve, reject) => {
        const settle = (then: () => void) => {
          clearTimeout(timer);
          watchers.delete(watcher);
          then();
        };
        const watcher = () => {
          if (isSo()) settle(resolve);
        };
        const timer = setTimeout(
          () => settle(() => reject(new Error(`it did not become so; ${received.length} requests came`))),
          PATIENCE_MS,
        );
        watchers.add(watcher);
        watcher();
      }),
    async restart() {
      await end(server);
      server = await listenAt(port);
    },
    [Symbol.asyncDispose]: () => end(server),
  };
}

/** The revisions of each room in the order in which they were told, without the repeats. */
export function revisionsByRoom(received: readonly Received[]): Record<string, number[]> {
  const seen = new Set<string>();
  const rooms: Record<string, number[]> = {};
  for (const { event } of received) {
    if (event.ref === null || seen.has(event.id)) continue;
    seen.add(event.id);
    rooms[event.ref] = [...(rooms[event.ref] ?? []), event.rev];
  }
  return rooms;
}
