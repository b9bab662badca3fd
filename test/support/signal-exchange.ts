/** Two clients that keep sending each other numbered signals, to show that attacks and faults do not disturb others. */
import { connectClient, type TestClient } from './client.ts';
import { PATIENCE_MS } from './patience-ms.ts';

const PACE_MS = 20;

export interface SignalExchange extends AsyncDisposable {
  readonly peers: readonly [TestClient, TestClient];
  /** Resolves when signals sent from now on have come through both ways. @throws when one is lost, late or out of order. */
  continues(): Promise<void>;
  /** How many have come through so far. */
  readonly exchanged: number;
}

/** @param urls one node for both, or one for each. */
export async function startSignalExchange(...urls: [string, string?]): Promise<SignalExchange> {
  const host = await connectClient(urls[0]);
  const guest = await connectClient(urls[1] ?? urls[0]);
  const { room } = await host.must('room:create');
  await guest.must('room:join', { code: room.code });
  const ways = [new Direction(host, guest), new Direction(guest, host)];
  const timer = setInterval(() => {
    for (const way of ways) way.send();
  }, PACE_MS);
  return {
    peers: [host, guest],
    async continues() {
      await Promise.all(ways.map((way) => way.reaches(way.sent + 2)));
    },
    get exchanged() {
      return Math.min(...ways.map(({ heard }) => heard));
    },
    async [Symbol.asyncDispose]() {
      clearInterval(timer);
      await host[Symbol.asyncDispose]();
      await guest[Symbol.asyncDispose]();
    },
  };
}

/** One direction. The first refused or reordered signal is remembered, and rejects the next `reaches`. */
class Direction {
  sent = 0;
  heard = 0;
  private wrong: string | undefined;
  private readonly waiting = new Set<() => void>();
  private readonly from: TestClient;
  private readonly to: TestClient;

  constructor(from: TestClient, to: TestClient) {
    this.from = from;
    this.to = to;
    to.socket.on('signal', ({ from: sender, data }: { from: string; data: { number: number } }) => {
      if (sender !== from.userId) return;
      if (data.number !== this.heard + 1) this.fail(`number ${data.number} came after ${this.heard}`);
      this.heard = data.number;
      this.look();
    });
    for (const { socket } of [from, to]) socket.on('disconnect', (reason) => this.fail(`disconnected: ${reason}`));
  }

  send(): void {
    this.sent += 1;
    this.from.ask('signal', { to: this.to.userId, data: { number: this.sent } }).then(
      (reply) => {
        if (!reply.ok) this.fail(`a signal was refused: ${reply.error.code}`);
      },
      (error: unknown) => this.fail(String(error)),
    );
  }

  reaches(number: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const settle = (end: () => void) => {
        clearTimeout(timer);
        this.waiting.delete(look);
        end();
      };
      const look = () => {
        if (this.wrong !== undefined) settle(() => reject(new Error(`the exchange was disturbed: ${this.wrong}`)));
        else if (this.heard >= number) settle(resolve);
      };
      const timer = setTimeout(() => this.fail(`${number} did not come, ${this.heard} did`), PATIENCE_MS);
      this.waiting.add(look);
      look();
    });
  }

  private fail(why: string): void {
    this.wrong ??= why;
    this.look();
  }

  private look(): void {
    for (const look of this.waiting) look();
  }
}
