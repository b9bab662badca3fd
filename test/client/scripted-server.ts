/** Socket.IO servers without Signalbox: they refuse handshakes, or follow a script. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Server } from 'socket.io';
import { type ErrorCode, type ErrorDetail, errorBody } from '../../src/protocol/errors.ts';
import type { RoomSnapshot } from '../../src/protocol/snapshot.ts';

/** Refuses every handshake, or accepts it and sends nothing. */
export async function startHandshakeServer(
  answer: (attempt: number) => { code: ErrorCode; detail?: ErrorDetail } | 'silence',
) {
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
  return { url: `http://127.0.0.1:${port}`, port, io, attempts, [Symbol.asyncDispose]: () => io.close() };
}

/** The answer of a scripted server to a request. */
type Answer = { readonly ok: true; readonly [field: string]: unknown } | { readonly ok: false; readonly error: object };
type Script = (name: string, payload: Record<string, unknown>, say: Say) => Answer | undefined;
type Say = (name: string, ...body: unknown[]) => void;

/**
 * A server that follows a script, for behaviour that is rare in a real one: events that overtake an answer, events that
 * are lost, pushes of a later version.
 */
export async function startScriptedServer(room: RoomSnapshot | null, script: Script) {
  const server = await startHandshakeServer(() => 'silence');
  const asked: string[] = [];
  const connections: { readonly say: Say }[] = [];
  server.io.on('connection', (socket) => {
    const say: Say = (name, ...body) => void socket.emit(name, ...body);
    connections.push({ say });
    socket.onAny((name: string, payload: Record<string, unknown>, acknowledge: (answer: Answer) => void) => {
      asked.push(name);
      const answer = script(name, payload, say) ?? COMMON[name];
      if (answer !== undefined) acknowledge(answer);
    });
    say('welcome', { ...WELCOME, room });
  });
  return {
    ...server,
    /** The names of all requests. */
    asked,
    /** Sends to the latest connection. */
    say: (name: string, ...body: unknown[]) => connections.at(-1)?.say(name, ...body),
  };
}

const COMMON: Readonly<Record<string, Answer>> = {
  ice: { ok: true, iceServers: [], ttlMs: 1000 },
  'room:leave': { ok: true },
  message: { ok: true },
};

const WELCOME = {
  v: 1,
  userId: 'me',
  session: 1,
  resume: 'the token',
  nodeId: 'scripted',
  heartbeatIntervalMs: 50,
  limits: { codeDigits: 6 },
};
