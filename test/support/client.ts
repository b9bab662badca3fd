/** A Socket.IO client that remembers everything it is pushed, so that a test can wait for it, or prove that it never came. */
import { io, type Socket } from 'socket.io-client';
import type { Acknowledgement, Push, PushName, Reply, RequestName, RequestPayload } from '../../src/protocol/events.ts';
import type { UserId } from '../../src/protocol/ids.ts';
import { PATIENCE_MS } from './patience-ms.ts';

type Auth = { v?: number; name?: string; resume?: string; token?: string };
type Heard = { [Name in PushName]: { readonly name: Name; readonly body: Push<Name> } }[PushName];
type Payload<Name extends RequestName> = RequestPayload<Name> | Record<string, unknown>;

export class TestClient implements AsyncDisposable {
  readonly socket: Socket;
  /** Every push, in the order in which it came. */
  readonly heard: Heard[] = [];
  private readonly waiting = new Set<() => void>();
  private readonly taken = new Map<PushName, number>();

  constructor(
    url: string,
    auth: Auth = {},
    options: {
      reconnection?: boolean;
      headers?: Record<string, string>;
      path?: string;
      transports?: ('polling' | 'websocket')[];
    } = {},
  ) {
    this.socket = io(url, {
      transports: options.transports ?? ['websocket'],
      forceNew: true,
      reconnection: options.reconnection ?? false,
      auth: { v: 1, ...auth },
      ...(options.headers && { extraHeaders: options.headers }),
      ...(options.path !== undefined && { path: options.path }),
    });
    this.socket.onAny((name: string, body: unknown) => {
      // What a server pushes is of the table; tests of the wire itself look closer.
      this.heard.push({ name, body } as Heard);
      for (const look of this.waiting) look();
    });
  }

  get userId(): UserId {
    return this.first('welcome').userId;
  }

  /** Sends a request and gives its acknowledgement, whatever it says. */
  async ask<Name extends RequestName>(name: Name, payload: Payload<Name> = {}): Promise<Acknowledgement<Name>> {
    return await this.socket.timeout(PATIENCE_MS).emitWithAck(name, payload);
  }

  /** Sends a request that must be granted. */
  async must(name: 'room:get'): Promise<{ ok: true } & Required<Reply<'room:get'>>>;
  async must<Name extends RequestName>(name: Name, payload?: Payload<Name>): Promise<{ ok: true } & Reply<Name>>;
  async must<Name extends RequestName>(name: Name, payload: Payload<Name> = {}): Promise<{ ok: true } & Reply<Name>> {
    const reply = await this.ask(name, payload);
    if (!reply.ok) throw new Error(`${name} was refused: ${reply.error.code} ${reply.error.message}`);
    return reply;
  }

  /** Sends a request that must be refused, and gives the error's code. */
  async refused<Name extends RequestName>(name: Name, payload: Payload<Name> = {}): Promise<string> {
    const reply = await this.ask(name, payload);
    if (reply.ok) throw new Error(`${name} was granted`);
    return reply.error.code;
  }

  /** The next push of that name which no earlier call has taken, whether it has come already or is still to come. */
  async next<Name extends PushName>(name: Name, fits: (body: Push<Name>) => boolean = () => true): Promise<Push<Name>> {
    return await this.until(() => {
      for (let at = this.taken.get(name) ?? 0; at < this.heard.length; at += 1) {
        const push = this.heard[at];
        if (push?.name !== name || !fits(push.body as Push<Name>)) continue;
        this.taken.set(name, at + 1);
        return push.body as Push<Name>;
      }
      return undefined;
    }, name);
  }

  /** All pushes of that name so far. */
  all<Name extends PushName>(name: Name): Push<Name>[] {
    return this.heard.filter((push) => push.name === name).map((push) => push.body as Push<Name>);
  }

  /** Resolves when the connection is closed, with Socket.IO's reason. */
  async closed(): Promise<string> {
    if (this.socket.disconnected && !this.socket.active) return 'closed';
    return await new Promise((resolve) => this.socket.once('disconnect', resolve));
  }

  /** Cuts the connection under Socket.IO, as a lost network does. */
  cut(): void {
    this.socket.io.engine.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.socket.disconnect();
  }

  private first<Name extends PushName>(name: Name): Push<Name> {
    const [body] = this.all(name);
    if (body === undefined) throw new Error(`${name} has not come yet`);
    return body;
  }

  private async until<Found>(look: () => Found | undefined, what: string): Promise<Found> {
    const found = look();
    if (found !== undefined) return found;
    return await new Promise((resolve, reject) => {
      const done = (end: () => void) => {
        clearTimeout(timer);
        this.waiting.delete(again);
        end();
      };
      const again = () => {
        const late = look();
        if (late !== undefined) done(() => resolve(late));
      };
      const timer = setTimeout(() => {
        const names = this.heard.map(({ name }) => name).join(', ');
        done(() => reject(new Error(`${what} did not come; came: ${names}`)));
      }, PATIENCE_MS);
      this.waiting.add(again);
    });
  }
}

/** A connected and welcomed client. */
export async function connectClient(
  url: string,
  auth: Auth = {},
  options: ConstructorParameters<typeof TestClient>[2] = {},
): Promise<TestClient> {
  const client = new TestClient(url, auth, options);
  await Promise.race([
    client.next('welcome'),
    new Promise<never>((_, reject) => {
      client.socket.once('connect_error', (error: Error & { data?: { code: string } }) =>
        reject(new Error(`refused: ${error.data?.code ?? error.message}`)),
      );
    }),
  ]);
  return client;
}
