/**
 * The answers under way, by connection. Node closes only the first of pipelined answers with its connection: the others
 * have no socket yet, hear no `close`, and would keep what they read from open for ever. A shutdown waits for all of them.
 */
import type { Server as HttpServer, IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Readable } from 'node:stream';

export class OpenAnswers {
  /** Only connections with an answer under way: an idle one, or a WebSocket, has no entry and no listener. */
  private readonly bySocket = new Map<Socket, Set<ServerResponse>>();
  /** What an answer is read from, where that is a stream. */
  private readonly contents = new WeakMap<ServerResponse, Readable>();

  /** Counts the answers of a server from now on. Before its other listeners, which may answer at once. */
  watch(server: HttpServer): void {
    server.prependListener('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
      // In an embedding server, a middleware may hand a request over after its connection has gone.
      if (!socket.destroyed) this.add(socket, response);
    });
  }

  get count(): number {
    let count = 0;
    for (const answers of this.bySocket.values()) count += answers.size;
    return count;
  }

  /** Whether the next bytes on a connection begin an answer: to its only request, or to one that could not be read. */
  isFresh(socket: Socket): boolean {
    const [first, second] = this.bySocket.get(socket) ?? [];
    return second === undefined && first?.headersSent !== true;
  }

  /** Destroys the content when the connection closes before the answer has ended, or has closed already. */
  readFrom(content: Readable, { socket }: IncomingMessage, response: ServerResponse): void {
    if (socket.destroyed) content.destroy();
    else this.contents.set(response, content);
  }

  private add(socket: Socket, response: ServerResponse): void {
    const answers = this.bySocket.get(socket) ?? new Set();
    if (answers.size === 0) {
      this.bySocket.set(socket, answers);
      socket.once('close', this.onClose);
    }
    answers.add(response);
    response.once('close', () => {
      answers.delete(response);
      if (answers.size > 0 || this.bySocket.get(socket) !== answers) return;
      this.bySocket.delete(socket);
      socket.off('close', this.onClose);
    });
  }

  /** One listener for all connections: `close` comes with the connection as `this`. */
  private readonly onClose = this.endAnswers();

  private endAnswers(): (this: Socket) => void {
    const { bySocket, contents } = this;
    return function (this: Socket): void {
      const answers = bySocket.get(this) ?? [];
      bySocket.delete(this);
      for (const response of answers) contents.get(response)?.destroy();
    };
  }
}
