import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

export interface ProxyOptions {
  /** What a round trip costs more than without the proxy: half of it each way. */
  delayMs?: number;
}

export interface TcpProxy extends AsyncDisposable {
  readonly port: number;
  /** Bytes that the server sent and that were handed to the client. */
  readonly bytesDown: number;
  /** Bytes that the client sent and that were handed to the server. */
  readonly bytesUp: number;
  /** Those that are open. */
  readonly connections: number;
  /** Those that were ever let through. */
  readonly accepted: number;
  /** Sees every piece that goes down; answers with a function that ends it. */
  onDown(listener: (chunk: Buffer) => void): () => void;
  /** Sees every piece that goes up. One write of the client may arrive as one piece. */
  onUp(listener: (chunk: Buffer) => void): () => void;
  /** Connections from now on go to this port instead. */
  turnTo(port: number): void;
  /** Destroys every connection and refuses new ones. */
  cut(): void;
  /** The end of `cut()`. */
  heal(): void;
  /** Stops forwarding both ways and keeps connections open, as a network that swallows packets. */
  freeze(): void;
  /** The end of `freeze()`: what was held back goes on, in order. */
  thaw(): void;
  /** What a round trip costs more from now on, of open connections too. */
  delay(roundTripMs: number): void;
  /** Ends the server's side of all open connections; the client's stay open, as when a host is gone without a word. */
  halfOpen(): void;
  close(): Promise<void>;
}

/** A TCP proxy in front of a port of 127.0.0.1 that is slow, counts, and fails on command. */
export async function startProxy(targetPort: number, options: ProxyOptions = {}): Promise<TcpProxy> {
  const link = new Link(targetPort, (options.delayMs ?? 0) / 2);
  await link.listen();
  return link;
}

class Link implements TcpProxy {
  port = 0;
  bytesDown = 0;
  bytesUp = 0;
  accepted = 0;
  #targetPort: number;
  #delayMs: number;
  readonly #server = createServer((client) => this.#accept(client));
  readonly #sockets = new Map<Socket, Socket>();
  readonly #pipes = new Set<Pipe>();
  readonly #down = new Set<(chunk: Buffer) => void>();
  readonly #up = new Set<(chunk: Buffer) => void>();
  #cut = false;
  #frozen = false;

  constructor(targetPort: number, delayMs: number) {
    this.#targetPort = targetPort;
    this.#delayMs = delayMs;
  }

  listen(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen(0, '127.0.0.1', () => {
        this.port = (this.#server.address() as AddressInfo).port; // a TCP server has no other kind of address
        resolve();
      });
    });
  }

  get connections(): number {
    return this.#sockets.size;
  }

  onDown(listener: (chunk: Buffer) => void): () => void {
    this.#down.add(listener);
    return () => void this.#down.delete(listener);
  }

  onUp(listener: (chunk: Buffer) => void): () => void {
    this.#up.add(listener);
    return () => void this.#up.delete(listener);
  }

  turnTo(port: number): void {
    this.#targetPort = port;
  }

  cut(): void {
    this.#cut = true;
    for (const [client, server] of this.#sockets) {
      client.resetAndDestroy();
      server.resetAndDestroy();
    }
  }

  heal(): void {
    this.#cut = false;
  }

  freeze(): void {
    this.#frozen = true;
  }

  thaw(): void {
    this.#frozen = false;
    for (const pipe of this.#pipes) pipe.flow();
  }

  delay(roundTripMs: number): void {
    this.#delayMs = roundTripMs / 2;
  }

  halfOpen(): void {
    for (const pipe of this.#pipes) pipe.abandon();
    for (const server of this.#sockets.values()) server.resetAndDestroy();
  }

  close(): Promise<void> {
    this.cut();
    return new Promise((resolve) => this.#server.close(() => resolve()));
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #accept(client: Socket): void {
    // The port stays ours while cut: a closed listener could lose it to another test.
    if (this.#cut) return void client.resetAndDestroy();
    this.accepted += 1;
    const server = connect({ port: this.#targetPort, host: '127.0.0.1', noDelay: true });
    client.setNoDelay(true);
    this.#sockets.set(client, server);
    const blocked = (): boolean => this.#frozen;
    const delayMs = (): number => this.#delayMs;
    const up = new Pipe(client, server, delayMs, blocked, (chunk) => {
      this.bytesUp += chunk.length;
      for (const listener of this.#up) listener(chunk);
    });
    const down = new Pipe(server, client, delayMs, blocked, (chunk) => {
      this.bytesDown += chunk.length;
      for (const listener of this.#down) listener(chunk);
    });
    this.#pipes.add(up).add(down);
    client.once('close', () => {
      this.#sockets.delete(client);
      this.#pipes.delete(up);
      this.#pipes.delete(down);
    });
  }
}

/** One direction of one connection: every piece leaves `delayMs` after it came, in order, and so does the end. */
class Pipe {
  readonly #to: Socket;
  readonly #blocked: () => boolean;
  readonly #seen: (chunk: Buffer) => void;
  readonly #held: { chunk: Buffer | undefined; due: number }[] = [];
  #isAbandoned = false;

  constructor(from: Socket, to: Socket, delayMs: () => number, blocked: () => boolean, seen: (chunk: Buffer) => void) {
    this.#to = to;
    this.#blocked = blocked;
    this.#seen = seen;
    const hold = (chunk: Buffer | undefined): void => {
      if (this.#isAbandoned) return;
      // A shorter delay than before does not let a piece overtake earlier ones.
      this.#held.push({ chunk, due: performance.now() + delayMs() });
      setTimeout(() => this.flow(), delayMs());
    };
    from.on('data', hold);
    from.once('close', () => hold(undefined));
    from.on('error', () => undefined); // `close` follows, and is passed on as such
  }

  /** Nothing goes through any more, the end neither. */
  abandon(): void {
    this.#isAbandoned = true;
    this.#held.length = 0;
  }

  flow(): void {
    // Timers may fire a fraction of a millisecond early.
    const now = performance.now() + 1;
    while (!this.#blocked()) {
      const first = this.#held[0];
      if (first === undefined || first.due > now) return;
      this.#held.shift();
      if (first.chunk === undefined) return void this.#to.destroy();
      if (this.#to.destroyed) continue;
      this.#seen(first.chunk);
      this.#to.write(first.chunk);
    }
  }
}
