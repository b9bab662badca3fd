/** A TCP proxy in front of a node: it can be switched to another node and blocked, and it counts connections. */
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

export class TcpSwitch implements AsyncDisposable {
  /** Connections since the start. */
  accepted = 0;
  /** When each of them was accepted, by `performance.now()`. */
  readonly times: number[] = [];
  /** Sessions that a server has started. */
  welcomes = 0;
  readonly #server = createServer((client) => this.#accept(client));
  readonly #clients = new Set<Socket>();
  readonly #listeners = new Set<(text: string) => void>();
  #port: number;
  #isBlocked = false;

  private constructor(port: number) {
    this.#port = port;
  }

  static async to(port: number): Promise<TcpSwitch> {
    const created = new TcpSwitch(port);
    await new Promise<void>((resolve) => created.#server.listen(0, '127.0.0.1', resolve));
    return created;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`; // a TCP server has no other kind of address
  }

  /** Connections that are open now. */
  get open(): number {
    return this.#clients.size;
  }

  /** Forwards later connections to that port. */
  switchTo(port: number): void {
    this.#port = port;
  }

  /** Ends every connection; later ones are forwarded. */
  cut(): void {
    for (const client of this.#clients) client.resetAndDestroy();
  }

  /** Ends every connection and, until `clear()`, every later one, which is counted all the same. */
  block(): void {
    this.#isBlocked = true;
    this.cut();
  }

  clear(): void {
    this.#isBlocked = false;
  }

  /** Calls the listener with the server's data before it is forwarded: the connection may still be cut. */
  onDown(listener: (text: string) => void): void {
    this.#listeners.add(listener);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.block();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #accept(client: Socket): void {
    this.accepted += 1;
    this.times.push(performance.now());
    if (this.#isBlocked) return void client.resetAndDestroy();
    const server = connect({ port: this.#port, host: '127.0.0.1', noDelay: true });
    client.setNoDelay(true);
    this.#clients.add(client);
    client.on('error', () => {}).on('close', () => this.#clients.delete(client) && server.destroy());
    server.on('error', () => {}).on('close', () => client.destroy());
    client.on('data', (chunk) => server.write(chunk));
    server.on('data', (chunk) => {
      // Frames of a server are neither masked nor compressed.
      const text = chunk.toString('utf8');
      this.welcomes += text.split('["welcome",').length - 1;
      for (const listener of this.#listeners) listener(text);
      if (!client.destroyed) client.write(chunk);
    });
  }
}
