/**
 * The WebSockets of Engine.IO, with a limit on what each receives. Here and not on the packets of Engine.IO, which reports
 * none of a connection that is closing or has no session yet, while `ws` goes on parsing every frame of it.
 */
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { type ServerOptions, WebSocket, WebSocketServer } from 'ws';
import type { Clock } from '../../support/clock.ts';
import type { ClientAddress } from '../limits/client-address.ts';
import { FrameBudget, type FrameLimits } from '../limits/frame-budget.ts';
import type { Fault } from '../limits/handshake-throttle.ts';

/** Time for the closing handshake; after it, the connection is destroyed. The default of `ws` is half a minute. */
export const CLOSE_MS = 1000;
/** Frames of one message. Browsers send a large message in a few frames. */
const MAX_FRAGMENTS = 128;
/** Pieces in which a frame may arrive: those of a slow link have some hundred bytes. */
const MIN_CHUNK_BYTES = 128;

export interface TransportGuard {
  readonly limits: FrameLimits;
  readonly clock: Clock;
  /** Counts a connection that broke the protocol, flooded, or ended without a handshake. */
  recordFault(address: string, fault: Fault): void;
  readonly addressOf: ClientAddress;
}

class GuardedWebSocket extends WebSocket {
  /** The request of the upgrade, until the handshake has been answered. */
  request: IncomingMessage | undefined;
  /** The client's, from then on. */
  address: string | undefined;
  private readonly guard: TransportGuard;
  private readonly frames: FrameBudget;
  /** The frames after it are dropped. */
  private isCut = false;
  /** Whether the client has broken the protocol of the WebSocket. */
  private isBroken = false;

  /** Called by `ws`, with `null`, nothing, and the options of the server. */
  constructor(...[address, protocols, options]: [null, undefined, { readonly guard: TransportGuard }]) {
    // Cast: the types know the constructor of clients only, where an address is a URL.
    super(...([address, protocols, options] as unknown as [string]));
    this.guard = options.guard;
    this.frames = new FrameBudget(options.guard.clock);
  }

  /** Every frame that `ws` has parsed comes by here. A listener could count it too, but not keep it from the others. */
  override emit(event: string | symbol, ...args: unknown[]): boolean {
    if (event === 'message') {
      // The two arguments of this event.
      if (!this.takeMessage(args[0] as Uint8Array, args[1] === true)) return false;
    } else if (event === 'ping' || event === 'pong') {
      if (!this.takeControl()) return false;
    } else if (event === 'error') this.isBroken = true;
    else if (event === 'close') this.reportEnd();
    return super.emit(event, ...args);
  }

  /** No fault of the client in itself: a slow reader that was kicked is ended by this, too. */
  override terminate(): void {
    this.isCut = true;
    super.terminate();
  }

  private takeMessage(data: Uint8Array, isBinary: boolean): boolean {
    if (this.address === undefined || !(isBinary || data[0] === ENGINE_MESSAGE)) return this.takeControl();
    const isWithinLimit = this.passOrCut(this.frames.takeMessage(this.guard.limits, this.guard.clock));
    // Sent before the client could know that the server closes: dropped, and within the same limit no fault.
    return isWithinLimit && this.readyState === WebSocket.OPEN;
  }

  private takeControl(): boolean {
    return this.passOrCut(this.frames.takeControl(this.guard.limits, this.guard.clock));
  }

  /** One chunk has thousands of small frames, and `ws` parses it to its end: those after the cut are dropped here. */
  private passOrCut(isWithinLimit: boolean): boolean {
    if (this.isCut) return false;
    if (isWithinLimit) return true;
    this.terminate();
    this.blame('flooded');
    return false;
  }

  private reportEnd(): void {
    if (this.isBroken || this.address === undefined) this.blame('ended');
  }

  private blame(fault: Fault): void {
    const { guard, request } = this;
    const address = this.address ?? (request && guard.addressOf(request));
    if (address !== undefined) guard.recordFault(address, fault);
  }
}

/** @returns the class of a WebSocket server, for the option `wsEngine` of Engine.IO. */
export function createWsEngine(guard: TransportGuard): new (options: ServerOptions) => WebSocketServer {
  return class GuardedWebSocketServer extends WebSocketServer {
    constructor(options: ServerOptions) {
      // Cast: the types lack `closeTimeout`, and `ws` hands all options on to its WebSockets.
      super({ ...options, ...boundsOf(options), guard, WebSocket: GuardedWebSocket } as unknown as ServerOptions);
    }

    override handleUpgrade(
      request: IncomingMessage,
      socket: Duplex,
      head: Buffer,
      done: (client: WebSocket, request: IncomingMessage) => void,
    ): void {
      super.handleUpgrade(request, socket, head, (client, upgraded) => {
        if (client instanceof GuardedWebSocket) client.request = request;
        done(client, upgraded);
      });
    }
  };
}

/** From now on the connection has the limit of messages of a session. Releases the request. */
export function markAnswered(transport: object, address: string): void {
  const socket: unknown = Reflect.get(transport, 'socket');
  if (!(socket instanceof GuardedWebSocket)) return;
  socket.address = address;
  socket.request = undefined;
}

/** These options are documented by `ws`, and Engine.IO has none for them. */
const boundsOf = ({ maxPayload = 0 }: ServerOptions) => ({
  closeTimeout: CLOSE_MS,
  maxFragments: MAX_FRAGMENTS,
  maxBufferedChunks: Math.ceil(maxPayload / MIN_CHUNK_BYTES),
});

const ENGINE_MESSAGE = 0x34; // '4'
