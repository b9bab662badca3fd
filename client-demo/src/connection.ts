/**
 * The connection to the server: comes back by itself with the newest resume token, and knows when it must not.
 * Socket.IO tries again after a lost transport; after a refusal or an end by the server it does not, so this does.
 */
import { io, type Socket } from 'socket.io-client';
import {
  type Acknowledgement,
  type ErrorBody,
  PROTOCOL_VERSION,
  type Push,
  type PushName,
  type RequestName,
  type RequestPayload,
} from '../../src/protocol/index.ts';
import { recall, remember } from './storage.ts';
import type { Failure } from './texts.ts';

export type Answer<Name extends RequestName> = Acknowledgement<Name> | { ok: false; error: Failure };

export interface ConnectionEvents {
  welcome: (welcome: Push<'welcome'>) => void;
  /** It is being tried again; `failure` where the server has said why. */
  lost: (failure?: Failure) => void;
  /** Trying again is of no use. */
  refused: (failure: Failure) => void;
  /** Another tab has taken over. The connection stays closed. */
  replaced: () => void;
}

const ANSWER_MS = 10_000;
const UNREACHABLE: Failure = { code: 'UNREACHABLE' };
/** Of a token that is of no use any more: it is too old, or the server does not know its signature. */
const STALE = new Set<string>(['SESSION_EXPIRED', 'UNAUTHENTICATED']);

/** Of many clients of a server that died no two should come back at the same moment. */
const BACK_OFF = { reconnectionDelay: 500, reconnectionDelayMax: 5_000, randomizationFactor: 0.5 };

export class Connection {
  /** Its events are typed by `on` and `request`: a generic name defeats the types of Socket.IO. */
  readonly #socket: Socket = io({
    transports: ['websocket'],
    autoConnect: false,
    ...BACK_OFF,
    auth: (give) => give(handshake()),
  });
  readonly #events: ConnectionEvents;
  readonly #waiting = new Set<(failure: Failure | null) => void>();
  #welcomed = false;
  #over = false;
  /** Removed by a host: not to come back unasked, so only when the person wants to go on. */
  #unwanted = false;
  #retry: ReturnType<typeof setTimeout> | undefined;

  constructor(events: ConnectionEvents) {
    this.#events = events;
    this.on('welcome', (welcome) => this.#welcome(welcome));
    this.on('session:replaced', () => this.#replaced());
    this.on('session:kicked', () => this.#kicked());
    this.on('server:drain', ({ reconnectInMs }) => this.#move(reconnectInMs));
    this.#socket.on('disconnect', () => this.#lost());
    this.#socket.on('connect_error', (error) => this.#failed(refusal(error)));
    window.addEventListener('online', () => this.#hurry());
  }

  /** Whether the server has welcomed us, and we have not lost it since. */
  get online(): boolean {
    return this.#welcomed;
  }

  on<Name extends PushName>(name: Name, listener: (body: Push<Name>) => void): void {
    this.#socket.on(name as string, listener);
  }

  /** Never rejects: that no answer came is an answer too. */
  async request<Name extends RequestName>(name: Name, payload: RequestPayload<Name>): Promise<Answer<Name>> {
    // Socket.IO would keep it, and send it into whatever comes after the reconnect.
    if (!this.#welcomed) return { ok: false, error: UNREACHABLE };
    try {
      // What the acknowledgement of `name` holds is promised by the table of messages.
      return (await this.#socket.timeout(ANSWER_MS).emitWithAck(name, payload)) as Acknowledgement<Name>;
    } catch {
      return { ok: false, error: UNREACHABLE };
    }
  }

  open(): void {
    clearTimeout(this.#retry);
    this.#unwanted = false;
    if (!this.#over && !this.#socket.active) this.#socket.connect();
  }

  /** Resolves with null once the server has welcomed us. */
  ready(): Promise<Failure | null> {
    if (this.#welcomed) return Promise.resolve(null);
    this.open();
    return new Promise((resolve) => {
      this.#waiting.add(resolve);
      setTimeout(resolve, ANSWER_MS, UNREACHABLE);
    });
  }

  #welcome(welcome: Push<'welcome'>): void {
    remember('resume', welcome.resume);
    this.#welcomed = true;
    this.#backOff(BACK_OFF);
    this.#settle(null);
    this.#events.welcome(welcome);
  }

  #replaced(): void {
    this.#over = true;
    // The other tab has it now; with it, a reload of this one would take the seat back.
    remember('resume', null);
    this.#socket.disconnect();
    this.#events.replaced();
  }

  #kicked(): void {
    this.#unwanted = true;
    remember('resume', null);
  }

  #lost(): void {
    this.#welcomed = false;
    if (this.#over || this.#unwanted) return;
    this.#events.lost();
    if (!this.#socket.active) this.#again(() => this.open(), 2_000 + Math.random() * 3_000);
  }

  #failed(failure: ErrorBody | null): void {
    if (failure === null) {
      // The transport has failed: Socket.IO tries again.
      this.#events.lost();
    } else if (STALE.has(failure.code) && recall('resume') !== null) {
      remember('resume', null);
      this.open();
    } else {
      this.#settle(failure);
      if (failure.retryable) this.#comeLater(failure);
      else this.#events.refused(failure);
    }
  }

  #comeLater(failure: ErrorBody): void {
    this.#events.lost(failure);
    this.#again(() => this.open(), (failure.retryAfterMs ?? 1_000) + Math.random() * 2_000);
  }

  /** The server goes away, and has spread its clients over some time: exactly when it says, not by our own back-off. */
  #move(afterMs: number): void {
    this.#backOff({
      reconnectionDelay: Math.max(1, afterMs),
      reconnectionDelayMax: Math.max(afterMs, BACK_OFF.reconnectionDelayMax),
      randomizationFactor: 0,
    });
    this.#socket.io.engine.close();
  }

  #backOff({ reconnectionDelay, reconnectionDelayMax, randomizationFactor }: typeof BACK_OFF): void {
    this.#socket.io
      .reconnectionDelay(reconnectionDelay)
      .reconnectionDelayMax(reconnectionDelayMax)
      .randomizationFactor(randomizationFactor);
  }

  /** The network is back: not after the back-off, which has grown meanwhile. */
  #hurry(): void {
    if (!this.#over && !this.#socket.connected && this.#socket.active) this.#socket.disconnect().connect();
  }

  #again(step: () => void, afterMs: number): void {
    clearTimeout(this.#retry);
    this.#retry = setTimeout(step, afterMs);
  }

  #settle(failure: Failure | null): void {
    for (const done of this.#waiting) done(failure);
    this.#waiting.clear();
  }
}

function handshake(): Record<string, unknown> {
  const resume = recall('resume');
  const name = recall('name');
  return { v: PROTOCOL_VERSION, ...(resume !== null && { resume }), ...(name !== null && { name }) };
}

/** What the server has said, or null when nothing of it has reached us. */
function refusal(error: Error & { data?: unknown }): ErrorBody | null {
  const { data } = error;
  // Only a server of this protocol sends a code, and its errors have one shape.
  return typeof data === 'object' && data !== null && 'code' in data ? (data as ErrorBody) : null;
}
