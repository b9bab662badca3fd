/** A receiver of webhooks: an HTTP server that responds as a test says. */
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

/** Responds to a request, or leaves it open. */
export type Behaviour = (response: ServerResponse, received: Received) => void;

export const answers =
  (status: number, headers: Record<string, string> = {}) =>
  (response: ServerResponse): void =>
    void response.writeHead(status, headers).end();

export interface Receiver extends AsyncDisposable {
  readonly url: string;
  readonly received: readonly Received[];
  /** Ids of the events that it has responded to with 204. */
  readonly taken: readonly string[];
  behave(behaviour: Behaviour): void;
  /** Resolves when the condition holds. It is checked after each request and each response. */
  until(condition: () => boolean): Promise<void>;
  /** Closes without responding to open requests, and listens again on the same port. */
  restart(): Promise<void>;
}

const TIMEOUT_MS = 60_000;
const ACCEPTS = answers(204);

export async function startReceiver(path = '/hooks'): Promise<Receiver> {
  const received: Received[] = [];
  const taken: string[] = [];
  const watchers = new Set<() => void>();
  let behaviour: Behaviour = ACCEPTS;
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
    until: (condition) =>
      new Promise((resolve, reject) => {
        const finish = (then: () => void) => {
          clearTimeout(timer);
          watchers.delete(watcher);
          then();
        };
        const watcher = () => {
          if (condition()) finish(resolve);
        };
        const timer = setTimeout(
          () => finish(() => reject(new Error(`the condition does not hold after ${received.length} requests`))),
          TIMEOUT_MS,
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

/** The revisions of each room in the order of arrival, without duplicates. */
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
