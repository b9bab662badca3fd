/** Between Socket.IO and the requests of the protocol: admit, limit, parse, dispatch, acknowledge. No rule of a room. */
import { type ErrorCode, type ErrorDetail, errorBody } from '../../protocol/errors.ts';
import type { ServerContext } from '../context.ts';
import { createBackpressure, type OutboundConnection } from '../limits/backpressure.ts';
import type { ClientAddress } from '../limits/client-address.ts';
import { type TakeResult, TokenBucket } from '../limits/token-bucket.ts';
import { dropSession } from '../presence/drop-session.ts';
import { admitConnection, beginSession, endSession, type LifecycleDeps } from '../presence/lifecycle.ts';
import { HandshakeRefused } from '../replies.ts';
import type { RequestHandlers } from '../rooms/requests.ts';
import type { Session } from '../sessions/session.ts';
import type { Socket } from '../sessions/socket-types.ts';
import { relayFast } from './fast-relay.ts';
import { markAnswered } from './guarded-websocket.ts';
import { LargeFrame } from './packet-parser.ts';
import { priceOf, priceOfReply } from './price-request.ts';
import { acknowledgementOf, type Packet, type Request, readRequest } from './read-request.ts';
import { sendAsSingleFrame } from './websocket-frame.ts';

/** Time for the last refusal to be written before a connection over its limit is destroyed. */
const LAST_REFUSAL_MS = 100;

type RequestHandler = (session: Session, payload: unknown) => Promise<object>;

export class Gateway {
  private readonly context: ServerContext;
  private readonly lifecycle: LifecycleDeps;
  private readonly handlers: RequestHandlers;
  private readonly addressOf: ClientAddress;
  private readonly limitOutbound: (connection: OutboundConnection) => void;

  constructor(lifecycle: LifecycleDeps, handlers: RequestHandlers, addressOf: ClientAddress) {
    const { options, clock } = lifecycle.context;
    this.context = lifecycle.context;
    this.lifecycle = lifecycle;
    this.handlers = handlers;
    this.addressOf = addressOf;
    this.limitOutbound = createBackpressure(options, clock);
  }

  open(): void {
    const { io } = this.context;
    io.use((socket, next) => void this.admit(socket, next));
    io.on('connection', (socket) => this.connect(socket));
  }

  private async admit(socket: Socket, next: (refused?: Error) => void): Promise<void> {
    const address = this.addressOf(socket.request);
    try {
      socket.data.admitted = await admitConnection(this.lifecycle, socket, address);
      next();
    } catch (error) {
      next(this.toConnectError(error));
    } finally {
      markAnswered(socket.conn.transport, address);
    }
  }

  private toConnectError(error: unknown): HandshakeRefused {
    if (error instanceof HandshakeRefused) return error;
    const { code, detail } = this.context.faults(error, 'handshake');
    return new HandshakeRefused(code, detail);
  }

  private connect(socket: Socket): void {
    const { options, clock, faults } = this.context;
    const { session, arrived } = socket.data.admitted;
    releaseHandshake(socket);
    sendAsSingleFrame(socket);
    // Engine.IO documents its write buffer and its WebSocket, but its types have neither.
    this.limitOutbound(socket.conn as unknown as OutboundConnection);
    const bucket = new TokenBucket(options, clock);
    // A middleware that never calls `next`: every event ends here, whatever its name.
    socket.use((packet) => this.receive(session, bucket, packet));
    socket.on('disconnect', () => this.disconnect(socket, session));
    beginSession(this.lifecycle, session, arrived).catch((error: unknown) => {
      // Without a welcome the client cannot know where it stands: it is made to reconnect.
      faults(error, 'welcome');
      dropSession(this.context, session);
    });
  }

  private disconnect(socket: Socket, session: Session): void {
    // A client that only leaves the namespace: its connection would live on without a session to account for it.
    socket.conn.close();
    endSession(this.context, session).catch((error: unknown) =>
      this.context.log.debug({ err: error }, 'a disconnect was not written'),
    );
  }

  private receive(session: Session, bucket: TokenBucket, packet: Packet): void {
    const { options, clock } = this.context;
    const [first] = packet;
    if (first instanceof LargeFrame) {
      bucket.charge(first.tokens);
      return;
    }
    const acknowledge = acknowledgementOf(packet);
    const refuse = (code: ErrorCode, detail?: ErrorDetail) =>
      acknowledge?.({ ok: false, error: errorBody(code, detail) });
    const isPaid = (taken: TakeResult): boolean => {
      if (taken.granted) return true;
      refuse('RATE_LIMITED', taken);
      if (taken.exhausted) this.endOverLimit(session);
      return false;
    };
    if (!isPaid(bucket.take(options, clock))) return;
    try {
      if (relayFast(this.context, session, packet)) {
        acknowledge?.({ ok: true });
        return;
      }
    } catch (error) {
      const { code, detail } = this.context.faults(error, 'signal');
      refuse(code, detail);
      return;
    }
    const request = readRequest(packet);
    if ('code' in request) {
      refuse(request.code, request);
      return;
    }
    const price = priceOf(this.context, session, request);
    if (price > 1 && !isPaid(bucket.takeMore(price - 1, options))) return;
    void this.handle(session, request).then((reply) => {
      bucket.charge(priceOfReply(this.context, request, reply, price) - price);
      acknowledge?.(reply);
    });
  }

  private async handle(session: Session, { name, payload }: Request): Promise<object> {
    try {
      // The payload has been parsed by the schema of that very name.
      return await (this.handlers[name] as RequestHandler)(session, payload);
    } catch (error) {
      const { code, detail } = this.context.faults(error, name);
      return { ok: false, error: errorBody(code, detail) };
    }
  }

  /** Disconnects, then destroys the connection: a client that ignored ten refusals may ignore the closing handshake. */
  private endOverLimit(session: Session): void {
    session.end();
    this.context.clock.after(LAST_REFUSAL_MS, () => session.terminate());
  }
}

/** Drops the references to the handshake, which is a good part of what an idle connection weighs. */
function releaseHandshake(socket: Socket): void {
  // Socket.IO's documentation recommends this for the request; the handshake holds its headers. The types allow neither.
  (socket.conn as { request: unknown }).request = null;
  (socket as { handshake: unknown }).handshake = null;
  (socket as { data: unknown }).data = null;
}
