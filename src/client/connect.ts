/** `connect`: creates a client from its connection, its room and its resume token. */
import { DEFAULT_CODE_DIGITS, normaliseTypedCode } from '../protocol/ids.ts';
import type { Push, UserId } from '../protocol/index.ts';
import { PROTOCOL_VERSION } from '../protocol/limits.ts';
import { clampMs } from './clamp-ms.ts';
import type { Client, ClientEvents, ConnectionState, ConnectOptions, CreateOptions, JoinOptions } from './client.ts';
import { type Ask, Connection, type ConnectionOwner } from './connection.ts';
import { CurrentRoom } from './current-room.ts';
import { Emitter } from './emitter.ts';
import { clientError, type SignalboxError } from './errors.ts';
import { DEFAULT_BACKOFF } from './full-jitter.ts';
import { Heartbeat } from './heartbeat.ts';
import { watchPage } from './page-lifecycle.ts';
import { ReconnectSchedule } from './reconnect-schedule.ts';
import { Requests } from './requests.ts';
import type { Room } from './room.ts';
import { pageRuntime, type Runtime } from './runtime.ts';
import { serverOrigin } from './server-origin.ts';
import type { AnyPush } from './single-use-socket.ts';
import { openTokenStore, type TokenStore } from './token-store.ts';
import { uniqueId } from './unique-id.ts';

const TIMEOUT_MS = 10_000;
/** Default heartbeat interval, for a server that announces none. */
const HEARTBEAT_MS = 30_000;
/** Timeout of the heartbeat after a wake-up of the page, when the connection may be dead. */
const ALIVE_MS = 4_000;

/**
 * Connects to a Signalbox server, and begins at once.
 *
 * @param url such as `https://signal.example.org` (`http:`, `https:`, `ws:` or `wss:`; a path is ignored); in a page that the
 * server itself serves, `location.origin`
 * @throws SignalboxError with the code `BAD_REQUEST`, at once, for a text that is not the URL of a server
 */
export function connect(url: string, options: ConnectOptions = {}): Client {
  return new RoomClient(url, options, pageRuntime);
}

class RoomClient extends Emitter<ClientEvents> implements Client {
  readonly #options: ConnectOptions;
  readonly #timeoutMs: number;
  readonly #tokens: TokenStore;
  readonly #connection: Connection;
  readonly #requests: Requests;
  readonly #current: CurrentRoom;
  readonly #heartbeat: Heartbeat;
  readonly #unwatchPage: () => void;
  #codeDigits = DEFAULT_CODE_DIGITS;
  #heartbeatMs = HEARTBEAT_MS;

  constructor(url: string, options: ConnectOptions, runtime: Runtime) {
    super();
    const { clock } = runtime;
    const origin = serverOrigin(url);
    this.#options = options;
    this.#timeoutMs = clampMs(options.timeoutMs, TIMEOUT_MS);
    this.#tokens = openTokenStore(options.store, origin);
    const schedule = new ReconnectSchedule(options.backoff ?? DEFAULT_BACKOFF, runtime);
    this.#connection = new Connection(
      { url: origin, path: options.path ?? '/socket.io', timeoutMs: this.#timeoutMs, schedule, clock },
      this.#asOwner(),
    );
    this.#requests = new Requests(this.#connection, clock, this.#timeoutMs);
    this.#current = new CurrentRoom({
      connection: this.#connection,
      requests: this.#requests,
      tokens: this.#tokens,
      runtime,
      onEntered: (room) => this.emit('room', room),
    });
    this.#heartbeat = new Heartbeat(this.#connection, this.#current, clock);
    this.#unwatchPage = watchPage({ wake: () => this.#wake(), hide: (mayReturn) => this.#hide(mayReturn) });
    this.#connection.open();
  }

  get state() {
    return this.#connection.state;
  }

  get ending() {
    return this.#connection.ending;
  }

  get userId(): UserId | null {
    return this.#current.userId;
  }

  get codeDigits() {
    return this.#codeDigits;
  }

  get room(): Room | null {
    return this.#current.room;
  }

  async ready(): Promise<Room | null> {
    await this.#requests.online();
    return this.room;
  }

  create(options: CreateOptions = {}): Promise<Room> {
    // Idempotency key: a create request that is repeated after a lost reply returns the same room.
    const idempotencyKey = uniqueId();
    return this.#current.enter((ask) => ask('room:create', { ...options, idempotencyKey }));
  }

  async join(typed: string, options: JoinOptions = {}): Promise<Room> {
    const code = normaliseTypedCode(String(typed), this.#codeDigits);
    if (code === undefined) {
      throw clientError('BAD_REQUEST', `A room code has ${this.#codeDigits} digits and does not begin with 0.`);
    }
    return await this.#current.enter((ask) => ask('room:join', { ...options, code }));
  }

  close(): Promise<void> {
    return this.#connection.close({ reason: 'closed' });
  }

  /** The callbacks for the connection: an object of its own, so that they are no public methods of the client. */
  #asOwner(): ConnectionOwner {
    return {
      handshake: () => this.#handshake(),
      forgetToken: () => this.#forgetToken(),
      restore: (welcome, ask) => this.#restore(welcome, ask),
      pushReceived: (push: AnyPush) => this.#current.receive(push),
      stateChanged: (state) => this.#onState(state),
      attemptFailed: (retryInMs: number, error: SignalboxError) => this.emit('retry', { retryInMs, error }),
    };
  }

  /** Undefined fields are not sent: JSON leaves them out. */
  #handshake(): object {
    const { name, token } = this.#options;
    return { v: PROTOCOL_VERSION, name, token, resume: this.#tokens.token ?? undefined };
  }

  #forgetToken(): boolean {
    const had = this.#tokens.token !== null;
    this.#tokens.token = null;
    return had;
  }

  async #restore(welcome: Push<'welcome'>, ask: Ask): Promise<void> {
    this.#codeDigits = welcome.limits.codeDigits;
    this.#heartbeatMs = clampMs(welcome.heartbeatIntervalMs, HEARTBEAT_MS);
    this.#tokens.token = welcome.resume;
    await this.#current.restore(welcome, ask);
  }

  #onState(state: ConnectionState): void {
    if (state === 'online') this.#heartbeat.start(this.#heartbeatMs, this.#timeoutMs);
    else this.#heartbeat.stop();
    if (state === 'closed') this.#onClosed();
    this.emit('state', state);
  }

  #onClosed(): void {
    const { ending } = this;
    this.#unwatchPage();
    // Removes the stored token: after a reload, this page must not take the seat back from the session that replaced it.
    // But a client that was closed before it used the token never had the seat, and leaves the token to the next client.
    this.#tokens.close(this.userId !== null);
    if (ending !== null) this.#current.end(ending.reason === 'closed' ? { reason: 'left' } : ending);
  }

  #wake(): void {
    if (this.state === 'online') void this.#heartbeat.beat(ALIVE_MS);
    else this.#connection.wake();
  }

  #hide(mayReturn: boolean): void {
    // Without a stored token, no page can resume the seat.
    if (!mayReturn && !this.#tokens.isKept) void this.close();
    // An open connection would keep the page out of the back/forward cache.
    else this.#connection.pause();
  }
}
