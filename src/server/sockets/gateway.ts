/** Between Socket.IO and the table of messages: admit, parse, dispatch, acknowledge. No rule of a room is here. */
import type { z } from 'zod';
import { type ErrorCode, type ErrorDetail, errorBody } from '../../protocol/errors.ts';
import type { RequestName } from '../../protocol/events.ts';
import { REQUESTS } from '../../protocol/messages.ts';
import type { ServerContext } from '../context.ts';
import type { Faults } from '../faults.ts';
import { createBackpressure, type OutboundConnection } from '../limits/backpressure.ts';
import type { ClientAddress } from '../limits/client-address.ts';
import { createControlFrameLimit, type EngineConnection } from '../limits/control-frames.ts';
import { TokenBucket } from '../limits/token-bucket.ts';
import type { Lifecycle } from '../presence/lifecycle.ts';
import { HandshakeRefused } from '../replies.ts';
import type { RequestHandlers } from '../rooms/requests.ts';
import type { Session, Socket } from '../sessions/session.ts';
import { createFastRelay } from './fast-relay.ts';
import { RefusedPacket } from './packet-parser.ts';
import { sendAsSingleFrame } from './websocket-frame.ts';

/** Long enough for the last refusal to be read. */
const FAREWELL_MS = 100;

type Acknowledge = (reply: object) => void;
type UseCase = (session: Session, payload: unknown) => Promise<object>;

/** Payload schemas by event name. A Map: the name comes from a stranger, and an object has more names than its own. */
const SCHEMAS: ReadonlyMap<unknown, z.ZodType> = new Map(
  Object.entries(REQUESTS).map(([name, { payload }]) => [name, payload]),
);

export function openGateway(
  context: ServerContext,
  hub: RequestHandlers,
  lifecycle: Lifecycle,
  faults: Faults,
  addressOf: ClientAddress,
): void {
  const { io, options, clock, log, registry } = context;
  const watchOutbound = createBackpressure(options, clock);
  const watchFloods = createControlFrameLimit(clock);
  const handOver = createFastRelay(registry);

  const answer = async (session: Session, name: RequestName, payload: unknown): Promise<object> => {
    try {
      // The schema of that name has just parsed the payload.
      return await (hub[name] as UseCase)(session, payload);
    } catch (error) {
      const { code, detail } = faults(error, name);
      return { ok: false, error: errorBody(code, detail) };
    }
  };

  /** Every event of a socket comes through here, whatever its name, and none goes further. */
  const receive = (session: Session, budget: TokenBucket, packet: readonly unknown[]): void => {
    const acknowledge = acknowledgementOf(packet);
    const refuse = (code: ErrorCode, detail?: ErrorDetail) =>
      acknowledge?.({ ok: false, error: errorBody(code, detail) });
    const verdict = budget.take(options, clock);
    if (!verdict.granted) {
      refuse('RATE_LIMITED', verdict);
      if (verdict.out) endFlooder(session);
      return;
    }
    try {
      if (handOver(session, packet)) {
        acknowledge?.({ ok: true });
        return;
      }
    } catch (error) {
      const { code, detail } = faults(error, 'signal');
      refuse(code, detail);
      return;
    }
    const request = readRequest(packet);
    if ('code' in request) {
      refuse(request.code, request);
      return;
    }
    void answer(session, request.name, request.payload).then((reply) => acknowledge?.(reply));
  };

  /** Politely, and then by force: who goes on in spite of ten refusals does not hear a farewell either. */
  const endFlooder = (session: Session): void => {
    session.end();
    clock.after(FAREWELL_MS, () => session.terminate());
  };

  const connect = (socket: Socket): void => {
    const { session, arrived } = socket.data.admitted;
    releaseHandshake(socket);
    sendAsSingleFrame(socket);
    // What waits to be written, and the WebSocket, are not in the types of Engine.IO, but where its documentation says.
    watchOutbound(socket.conn as unknown as OutboundConnection);
    watchFloods(socket.conn as unknown as EngineConnection);
    const budget = new TokenBucket(options, clock.now());
    socket.use((packet) => receive(session, budget, packet));
    socket.on('disconnect', () => {
      // A client that leaves the namespace has nothing else to do here: its connection would live on, unaccounted for.
      socket.conn.close();
      lifecycle.end(session).catch((error: unknown) => log.debug({ err: error }, 'a disconnect was not written'));
    });
    lifecycle.begin(session, arrived).catch((error: unknown) => {
      // It has no way to learn where it stands but to come back.
      faults(error, 'welcome');
      session.drop();
    });
  };

  const admit = async (socket: Socket, next: (refused?: Error) => void): Promise<void> => {
    try {
      socket.data.admitted = await lifecycle.admit(socket, addressOf(socket.request));
      next();
    } catch (error) {
      next(toConnectError(error, faults));
    }
  };

  io.use((socket, next) => void admit(socket, next));
  io.on('connection', connect);
}

/** What a connection began with is needed no more, and is a good part of what an idle one weighs. */
function releaseHandshake(socket: Socket): void {
  // To let go of the HTTP request is Socket.IO's own advice; the handshake holds its headers. The types foresee neither.
  (socket.conn as { request: unknown }).request = null;
  (socket as { handshake: unknown }).handshake = null;
  (socket as { data: unknown }).data = null;
}

function toConnectError(error: unknown, faults: Faults): HandshakeRefused {
  if (error instanceof HandshakeRefused) return error;
  const { code, detail } = faults(error, 'handshake');
  return new HandshakeRefused(code, detail);
}

function acknowledgementOf(packet: readonly unknown[]): Acknowledge | undefined {
  const last = packet.at(-1);
  // Socket.IO puts a function there only when the client asked for an acknowledgement.
  return typeof last === 'function' ? (last as Acknowledge) : undefined;
}

type Request = { readonly name: RequestName; readonly payload: unknown };

function readRequest(packet: readonly unknown[]): Request | { readonly code: ErrorCode; readonly message?: string } {
  const [name, ...rest] = packet.filter((part) => typeof part !== 'function');
  if (name instanceof RefusedPacket) return { code: 'BAD_REQUEST', message: name.reason };
  const schema = SCHEMAS.get(name);
  if (schema === undefined) return { code: 'BAD_REQUEST', message: 'No such request.' };
  if (rest.length > 1) return { code: 'BAD_REQUEST', message: 'A request has one payload.' };
  const read = schema.safeParse(rest.length === 0 ? {} : rest[0]);
  // Only the table's own names have a schema.
  if (read.success) return { name: name as RequestName, payload: read.data };
  return { code: isTooLarge(read.error) ? 'PAYLOAD_TOO_LARGE' : 'BAD_REQUEST', message: describe(read.error) };
}

/** The first thing that is wrong, and where. What was sent is not repeated. */
function describe({ issues }: z.ZodError): string {
  const [issue] = issues;
  // Its own text would name them all.
  if (issue?.code === 'unrecognized_keys') return 'The payload: unknown fields';
  const path = issue?.path.join('.') ?? '';
  return `${path === '' ? 'The payload' : path}: ${issue?.message ?? 'malformed'}`;
}

const isTooLarge = ({ issues }: z.ZodError): boolean =>
  issues.some((issue) => issue.code === 'custom' && issue.params?.['tooLarge'] === true);
