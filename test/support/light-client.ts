/** A client of a few hundred bytes, for tests with thousands: the frames of Engine.IO and Socket.IO by hand. */
import { WebSocket } from 'ws';
import type { ErrorBody, Push } from '../../src/protocol/index.ts';

type Welcome = Push<'welcome'>;

/** Comes again when it is refused, at the time that it is told, and when its connection is lost. */
class LightClient {
  /** The sessions that it has had, in order. */
  readonly sessions: number[] = [];
  refusals = 0;
  readonly #url: string;
  readonly #onSession: () => void;
  #socket: WebSocket | undefined;
  #resume: string | undefined;
  #timer: NodeJS.Timeout | undefined;

  /** @param onSession called after each welcome */
  constructor(url: string, onSession: () => void) {
    this.#url = `${url.replace('http', 'ws')}/socket.io/?EIO=4&transport=websocket`;
    this.#onSession = onSession;
    this.#connect();
  }

  end(): void {
    clearTimeout(this.#timer);
    this.#socket?.removeAllListeners('close').terminate();
  }

  #connect(): void {
    const socket = new WebSocket(this.#url, { perMessageDeflate: false });
    this.#socket = socket;
    let retryMs = 50;
    socket.on('error', () => {}); // `close` follows
    socket.on('close', () => {
      this.#timer = setTimeout(() => this.#connect(), retryMs);
    });
    socket.on('message', (bytes: Buffer) => {
      const text = bytes.toString();
      if (text.startsWith('0')) socket.send(`40${JSON.stringify({ v: 1, resume: this.#resume })}`);
      else if (text === '2') socket.send('3');
      else if (text.startsWith('42["welcome"')) this.#welcomed(JSON.parse(text.slice(2))[1]);
      else if (text.startsWith('44')) {
        const { data } = JSON.parse(text.slice(2)) as { data?: ErrorBody };
        retryMs = data?.retryAfterMs ?? retryMs;
        this.refusals += 1;
        socket.close();
      }
    });
  }

  #welcomed({ session, resume }: Welcome): void {
    this.sessions.push(session);
    this.#resume = resume;
    this.#onSession();
  }
}

export class LightClients implements AsyncDisposable {
  readonly all: LightClient[] = [];

  /** @param onSession called after each welcome */
  connect(url: string, onSession: () => void): void {
    this.all.push(new LightClient(url, onSession));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const client of this.all) client.end();
  }
}
