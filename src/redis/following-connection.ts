/**
 * A connection to the primary that sentinels name: they are asked at each attempt to connect, and once a second while it is
 * connected. Each attempt is one client of node-redis, which does not connect again by itself.
 */
import { EventEmitter } from 'node:events';
import { ErrorReply } from 'redis';
import type { Clock } from '../support/clock.ts';
import { withDeadline } from '../support/deadline.ts';
import type { PlainClient } from './client.ts';
import { isSameServer, type ServerAddress } from './hosts-url.ts';
import type { Sentinels } from './sentinel/sentinels.ts';

export interface FollowingOptions {
  /** Who names the primary. */
  readonly sentinels: Pick<Sentinels, 'candidates' | 'watch'>;
  /** A client that is not connected, and does not connect again by itself. */
  readonly makeClient: (address: ServerAddress) => PlainClient;
  /** What is done with each new connection before it counts as ready. */
  readonly prepare: (client: PlainClient) => Promise<unknown>;
  /** The pause before an attempt. */
  readonly pauseMs: (retries: number) => number;
  readonly clock: Pick<Clock, 'after'>;
}

/** Of one attempt, with its handshake: a frozen server accepts connections. */
const ATTEMPT_MS = 5_000;

export class FollowingConnection {
  readonly events = new EventEmitter<{ ready: []; reconnecting: []; end: []; error: [Error] }>();
  readonly #options: FollowingOptions;
  #client: PlainClient | undefined;
  /** Of the attempt or the connection. */
  #address: ServerAddress | undefined;
  /** The last one that was a primary: it may be so still when no sentinel answers. */
  #known: ServerAddress | undefined;
  #end: (reason: Error) => void = () => {};
  #unwatch = (): void => {};
  #isOpen = false;

  constructor(options: FollowingOptions) {
    this.#options = options;
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** Connected to a primary; undefined while there is no such connection. */
  get client(): PlainClient | undefined {
    return this.#isOpen && this.#client?.isReady ? this.#client : undefined;
  }

  /** @throws Error when it is closed before the first connection. */
  open(): Promise<void> {
    this.#isOpen = true;
    this.#unwatch = this.#options.sentinels.watch((primary) => this.#follow(primary));
    return new Promise((resolve, reject) => {
      this.events.once('ready', resolve);
      void this.#keepConnected().then(() => reject(new Error('closed before it was connected')));
    });
  }

  /** Ends the connection, or the attempt, and connects anew: for a server that is connected and does not reply. */
  drop(reason: Error): void {
    this.#end(reason);
  }

  /** Waits for replies. */
  async close(): Promise<void> {
    const { client } = this;
    this.#isOpen = false;
    await client?.close();
    this.destroy();
  }

  destroy(): void {
    this.#isOpen = false;
    this.#unwatch();
    this.#end(new Error('closed'));
  }

  /** A frozen primary does not end its connections: the sentinels tell that it has been replaced. */
  #follow(primary: ServerAddress): void {
    if (this.#address === undefined || isSameServer(this.#address, primary)) return;
    this.#end(new Error('the sentinels name another primary'));
  }

  async #keepConnected(): Promise<void> {
    let retries = 0;
    while (this.#isOpen) {
      const { error, wasReady } = await this.#attempt(retries);
      if (!this.#isOpen) break;
      this.events.emit('error', error);
      retries = wasReady ? 0 : retries + 1;
      await new Promise<void>((resolve) => this.#options.clock.after(this.#options.pauseMs(retries), resolve));
      if (this.#isOpen) this.events.emit('reconnecting');
    }
    this.events.emit('end');
  }

  /** Resolves when the attempt has failed, or the connection has ended. */
  async #attempt(retries: number): Promise<{ readonly error: Error; readonly wasReady: boolean }> {
    const ended = new Promise<Error>((resolve) => {
      this.#end = resolve;
    });
    let client: PlainClient | undefined;
    try {
      const candidates = await this.#options.sentinels.candidates(this.#known);
      const address = candidates[retries % candidates.length] ?? candidates[0];
      this.#address = address;
      client = this.#options.makeClient(address);
      await this.#connect(client, ended);
      this.#known = address;
      this.#client = client;
      this.events.emit('ready');
      return { error: await ended, wasReady: true };
    } catch (error) {
      return { error: error instanceof Error ? error : new Error(String(error)), wasReady: false };
    } finally {
      this.#client = undefined;
      this.#address = undefined;
      client?.destroy();
    }
  }

  async #connect(client: PlainClient, ended: Promise<Error>): Promise<void> {
    client.on('error', (error: Error) => {
      if (!client.isOpen) this.#end(error);
    });
    const prepared = client
      .connect()
      .then(() => expectPrimary(client))
      .then(() => this.#options.prepare(client));
    const aborted = ended.then((error) => Promise.reject(error));
    const late = (): Error => new Error(`no connection within ${ATTEMPT_MS} ms`);
    await withDeadline(Promise.race([prepared, aborted]), ATTEMPT_MS, late);
  }
}

/** What sentinels say may be out of date: a primary that comes back knows only a moment later that it has been replaced. */
async function expectPrimary(client: PlainClient): Promise<void> {
  try {
    if ((await client.role())?.role !== 'master') throw new Error('the server that the sentinels name is no primary');
  } catch (error) {
    // Not permitted to all users. Whoever writes to a replica is refused, and then connects anew.
    if (!(error instanceof ErrorReply && error.message.startsWith('NOPERM'))) throw error;
  }
}
