/** Refusals that Node makes by itself, before there is a request, as the same problems that requests are refused with. */
import { type Server as HttpServer, type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { OpenAnswers } from './open-answers.ts';
import { PROBLEM_TYPE, problemBody } from './problem.ts';

interface Refusal {
  readonly status: number;
  readonly message: string;
}

const MALFORMED: Refusal = { status: 400, message: 'The request is malformed.' };
/** By the code of Node's error. */
const REFUSALS: Readonly<Record<string, Refusal>> = {
  ERR_HTTP_REQUEST_TIMEOUT: { status: 408, message: 'The request took too long.' },
  HPE_HEADER_OVERFLOW: { status: 431, message: 'The headers are too large.' },
  HPE_CHUNK_EXTENSIONS_OVERFLOW: { status: 413, message: 'The chunk extensions are too large.' },
};

/** For Fastify's `clientErrorHandler`: a connection whose bytes are no request, or no complete one in time. */
export function refuseUnreadable(answers: OpenAnswers, { code }: NodeJS.ErrnoException, socket: Socket): void {
  // In the middle of another answer, the client would take the text for a part of that one.
  if (socket.writable && code !== 'ECONNRESET' && answers.isFresh(socket)) socket.write(textOf(code));
  socket.destroySoon();
}

/** `Expect` with anything but `100-continue`, which Node answers with an empty 417. */
export function refuseExpectations(server: HttpServer): void {
  server.on('checkExpectation', (_request: IncomingMessage, response: ServerResponse) => {
    const body = bodyOf({ status: 417, message: 'Only 100-continue can be expected.' });
    response.writeHead(417, { ...HEADERS, 'content-length': body.length }).end(body);
  });
}

const HEADERS = {
  connection: 'close',
  'content-type': PROBLEM_TYPE,
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
};

const bodyOf = (refusal: Refusal): string => JSON.stringify(problemBody('BAD_REQUEST', refusal));

function textOf(code = ''): string {
  const refusal = REFUSALS[code] ?? MALFORMED;
  const body = bodyOf(refusal);
  const headers = Object.entries({ ...HEADERS, 'content-length': body.length });
  const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`).join('');
  return `HTTP/1.1 ${refusal.status} ${STATUS_CODES[refusal.status]}\r\n${lines}\r\n${body}`;
}
