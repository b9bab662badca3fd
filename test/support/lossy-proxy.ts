/** A proxy before Redis that understands its protocol (RESP), and loses some of the published messages on their way to a node. */
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

export interface LossyProxy extends AsyncDisposable {
  readonly port: number;
  /** Messages lost so far. */
  readonly lost: number;
  /** Messages let through so far. */
  readonly passed: number;
  /** No message is lost from now on. */
  mend(): void;
}

/** @param isLost is asked for each message, by its channel. */
export async function startLossyProxy(targetPort: number, isLost: (channel: string) => boolean): Promise<LossyProxy> {
  const counts = { lost: 0, passed: 0 };
  let mended = false;
  const sockets = new Set<Socket>();
  const keeps = (frame: Buffer): boolean => {
    const channel = channelOf(frame);
    if (channel === undefined) return true;
    const lost = !mended && isLost(channel);
    counts[lost ? 'lost' : 'passed'] += 1;
    return !lost;
  };
  const server = createServer((client) => {
    const redis = connect({ port: targetPort, host: '127.0.0.1', noDelay: true });
    for (const [socket, other] of [
      [client, redis],
      [redis, client],
    ] as const) {
      sockets.add(socket);
      socket.on('error', () => {});
      socket.once('close', () => void other.destroy());
    }
    client.pipe(redis);
    let rest: Buffer = Buffer.alloc(0);
    redis.on('data', (chunk) => {
      const { frames, left } = split(Buffer.concat([rest, chunk]));
      rest = left;
      const kept = frames.filter(keeps);
      if (kept.length > 0) client.write(Buffer.concat(kept));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port, // a TCP server has no other kind of address
    get lost() {
      return counts.lost;
    },
    get passed() {
      return counts.passed;
    },
    mend() {
      mended = true;
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

/** The channel of a published message; undefined for any other reply. */
function channelOf(frame: Buffer): string | undefined {
  const [, channel] = /^[>*]3\r\n\$8\r\nsmessage\r\n\$\d+\r\n([^\r]*)\r\n/.exec(frame.toString('latin1', 0, 512)) ?? [];
  return channel;
}

/** Whole replies, and the beginning of the next one. */
function split(data: Buffer): { frames: Buffer[]; left: Buffer } {
  const frames: Buffer[] = [];
  let start = 0;
  for (;;) {
    const end = endOf(data, start);
    if (end === undefined) return { frames, left: data.subarray(start) };
    frames.push(data.subarray(start, end));
    start = end;
  }
}

/** @returns undefined when the reply is not complete. */
function endOf(data: Buffer, start: number): number | undefined {
  const line = data.indexOf('\r\n', start);
  if (line === -1) return undefined;
  const kind = String.fromCharCode(data[start] ?? 0);
  const size = Number(data.toString('latin1', start + 1, line));
  const next = line + 2;
  if ('$=!'.includes(kind)) {
    const end = size < 0 ? next : next + size + 2;
    return end > data.length ? undefined : end;
  }
  const parts = '*~>'.includes(kind) ? size : kind === '%' ? 2 * size : 0;
  let end: number | undefined = next;
  for (let part = 0; part < parts && end !== undefined; part += 1) end = endOf(data, end);
  return end;
}
