/** A door of Socket.IO with no house behind it. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Server } from 'socket.io';
import { type ErrorCode, type ErrorDetail, errorBody } from '../../src/protocol/errors.ts';

/** Refuses every handshake, or accepts it and says nothing. */
export async function startDoor(answer: (attempt: number) => { code: ErrorCode; detail?: ErrorDetail } | 'silence') {
  const http = createServer();
  const io = new Server(http, { transports: ['websocket'] });
  const attempts: { readonly at: number; readonly auth: unknown }[] = [];
  io.use((socket, accept) => {
    attempts.push({ at: performance.now(), auth: socket.handshake.auth });
    const said = answer(attempts.length);
    if (said === 'silence') accept();
    else accept(Object.assign(new Error(said.code), { data: errorBody(said.code, said.detail) }));
  });
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  const { port } = http.address() as AddressInfo; // a TCP server has no other kind of address
  return { url: `http://127.0.0.1:${port}`, port, attempts, [Symbol.asyncDispose]: () => io.close() };
}
