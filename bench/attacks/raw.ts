/** WebSocket frames written by hand: a library refuses to send what an attacker sends. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

/** A masked text frame, 125 bytes at most; the mask is zero, which leaves the text as it is. */
function textFrame(text: string): Buffer {
  return Buffer.concat([Buffer.from([0x81, 0x80 | text.length, 0, 0, 0, 0]), Buffer.from(text)]);
}

/** Engine.IO packets, many in one buffer: a system call per frame would make the attacker the slow part. */
export const TEXT = {
  pong: Buffer.concat(Array.from({ length: 500 }, () => textFrame('3'))),
  noop: Buffer.concat(Array.from({ length: 500 }, () => textFrame('4x'))),
} as const;

export async function openRaw(url: string): Promise<Socket> {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port), noDelay: true });
  socket.on('error', () => {}); // `close` follows
  await once(socket, 'connect');
  return socket;
}

/** Opens a WebSocket and writes the packets. @throws when the server closes instead. */
export async function upgrade(url: string, packets: readonly string[]): Promise<Socket> {
  const socket = await openRaw(url);
  const { host } = new URL(url);
  const headers = ['Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13'];
  const key = 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==';
  socket.write(
    ['GET /socket.io/?EIO=4&transport=websocket HTTP/1.1', `Host: ${host}`, ...headers, key, '', ''].join('\r\n'),
  );
  const [head] = (await Promise.race([once(socket, 'data'), once(socket, 'close')])) as [unknown];
  if (!(head instanceof Buffer) || !head.includes(' 101 ')) {
    socket.destroy();
    throw new Error('the upgrade was refused');
  }
  socket.resume();
  for (const packet of packets) socket.write(textFrame(packet));
  return socket;
}

/** Writes the buffer again and again, as fast as the server reads, until the time has come or the socket is closed. */
export async function writeWhileOpen(socket: Socket, buffer: Buffer, endsAt: number): Promise<void> {
  // Not `once` of node:events: it rejects when the server resets the connection, which is no error here.
  const closed = heard(socket, 'close');
  while (!socket.destroyed && Date.now() < endsAt) {
    const more = socket.write(buffer);
    if (!more) await Promise.race([heard(socket, 'drain'), closed]);
    else await new Promise((resolve) => setImmediate(resolve));
  }
  socket.destroy();
  await closed;
}

const heard = (socket: Socket, event: 'close' | 'drain'): Promise<void> =>
  new Promise((resolve) => {
    if (socket.closed) resolve();
    else socket.once(event, () => resolve());
  });
