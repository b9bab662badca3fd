/** Kept connections to a receiver, which may close an idle one at any time without notice. */
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { describe, expect, test } from 'vitest';
import { startHostile } from './hostile.ts';
import { testSender } from './test-sender.ts';

const MESSAGE = { id: 'ROM202600000042:7', body: '{"id":"ROM202600000042:7"}' };

/** Answers the first request on each connection, and does `onReuse` at the next one. */
async function startForgetful(onReuse: (socket: Socket) => void) {
  const requests: number[] = [];
  let connections = 0;
  const serve = (socket: Socket) => {
    connections += 1;
    const connection = connections;
    let taken = 0;
    socket.on('error', () => {});
    socket.on('data', (chunk) => {
      if (!chunk.includes('POST ')) return;
      requests.push(connection);
      taken += 1;
      if (taken === 1) socket.write('HTTP/1.1 204 No Content\r\n\r\n');
      else onReuse(socket);
    });
  };
  const server = createServer(serve);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo; // it listens on TCP
  return {
    url: `http://localhost:${port}/`,
    requests,
    [Symbol.asyncDispose]: () => new Promise<void>((resolve) => server.close(() => resolve())),
  };
}

describe('a kept connection that the receiver has closed meanwhile', () => {
  test.each<[what: string, onReuse: (socket: Socket) => void]>([
    ['resets', (socket) => socket.resetAndDestroy()],
    ['is closed', (socket) => socket.end()],
    ['is destroyed', (socket) => socket.destroy()],
  ])('costs no attempt: it %s, and the event is sent again at once, on a new connection', async (_what, onReuse) => {
    await using receiver = await startForgetful(onReuse);
    using sender = testSender(receiver.url);
    for (let count = 0; count < 3; count += 1) expect(await sender.send(MESSAGE)).toEqual({ kind: 'delivered' });
    // The second event went to the first connection, and then to another one; the third to one more.
    expect(receiver.requests).toEqual([1, 1, 2, 3]);
    sender.close();
  });

  test('costs one attempt when a part of an answer had come', async () => {
    await using receiver = await startForgetful((socket) => socket.end('HTTP/1.1 2'));
    using sender = testSender(receiver.url);
    expect(await sender.send(MESSAGE)).toEqual({ kind: 'delivered' });
    expect(await sender.send(MESSAGE)).toEqual({ kind: 'failed', reason: 'ECONNRESET' });
    expect(receiver.requests).toEqual([1, 1]);
    sender.close();
  });

  test('costs one attempt when the new connection ends without an answer too', async () => {
    let attempts = 0;
    await using receiver = await startHostile((socket) => {
      attempts += 1;
      if (attempts > 1) return void socket.end();
      socket.write('HTTP/1.1 204 No Content\r\n\r\n');
      socket.once('data', () => socket.resetAndDestroy());
    });
    using sender = testSender(receiver.url);
    expect(await sender.send(MESSAGE)).toEqual({ kind: 'delivered' });
    expect(await sender.send(MESSAGE)).toEqual({ kind: 'failed', reason: 'ECONNRESET' });
    expect(receiver.connections).toBe(2);
  });

  test('is not replaced after the sender has been closed', async () => {
    let onAsked: (socket: Socket) => void = () => {};
    const asked = new Promise<Socket>((resolve) => {
      onAsked = resolve;
    });
    await using receiver = await startForgetful((socket) => onAsked(socket));
    using sender = testSender(receiver.url);
    await sender.send(MESSAGE);
    const second = sender.send(MESSAGE);
    const socket = await asked;
    sender.close();
    socket.destroy();
    expect(await second).toEqual({ kind: 'aborted' });
    expect(receiver.requests).toEqual([1, 1]);
  });
});
