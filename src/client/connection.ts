/**
 * A connection that reconnects automatically, with a new single-use socket for each attempt. Its state is a discriminated
 * union: each state holds its own socket or timer, so nothing of a former state is left over. It knows nothing of rooms.
 */
import type { Acknowledgement, ErrorBody, Push, Reply, RequestInput, RequestName } from '../protocol/index.ts';
import type { Stop } from '../support/clock.ts';
import { clampMs } from './clamp-ms.ts';
import type { ClientEnding, ConnectionState } from './client.ts';
import { clientError, SignalboxError } from './errors.ts';
import { isOffline } from './page-lifecycle.ts';
import type { ReconnectSchedule } from './reconnect-schedule.ts';
import type { PageClock } from './runtime.ts';
import { type AnyPush, SingleUseSocket, type SocketOptions } from './single-use-socket.ts';
import { Waiters } from './waiters.ts';

/** Sends a request and resolves with its reply. Rejects with a SignalboxError. */
export type Ask = <Name extends RequestName>(name: Name, payload: RequestInput<Name>) => Promise<Reply<Name>>;

export interface ConnectionOptions extends SocketOptions {
  readonly schedule: ReconnectSchedule;
  readonly clock: PageClock;
}

/** The callbacks of a connection to its client. */
export interface ConnectionOwner {
  /** The handshake payload of the next attempt. */
  handshake(): object;
  /** Removes the resume token, which the server does not know. @returns false when there was none. */
  forgetToken(): boolean;
  /** After `welcome`: restores the client's state on the server. Resolved: online. Rejected: the attempt has failed. */
  restore(welcome: Push<'welcome'>, ask: Ask): Promise<void>;
  pushReceived(push: AnyPush): void;
  stateChanged(state: ConnectionState): void;
  attemptFailed(retryInMs: number, error: SignalboxError): void;
}

type State =
  /** The page is hidden: no socket and no timer until it is shown again. */
  | { readonly kind: 'paused' }
  | { readonly kind: 'waiting'; readonly stopTimer: Stop }
  /** Opened, `welcome` has not arrived. */
  | { readonly kind: 'connecting'; readonly socket: SingleUseSocket }
  /** `welcome` has arrived: from now on the server may have a seat for us. */
  | { readonly kind: 'restoring'; readonly socket: SingleUseSocket }
  /** @property since by the monotonic clock */
  | { readonly kind: 'online'; readonly socket: SingleUseSocket; readonly since: number }
  | { readonly kind: 'closed'; readonly ending: ClientEnding };

/** Minimum lifetime of a connection that resets the back-off. */
const STABLE_MS = 5_000;
/** How long `close` waits for the answer to its `room:leave`. */
const FAREWELL_MS = 4_000;

export class Connection {
  readonly #options: ConnectionOptions;
  readonly #owner: ConnectionOwner;
  /** Callers that wait until it is online or closed. */
  readonly #waiters: Waiters;
  #state: State = { kind: 'paused' };
  /** The state reported last. */
  #reportedState: ConnectionState = 'connecting';
  /** State name while not connected: `connecting` before the client was first online, then `reconnecting`. */
  #disconnectedState: ConnectionState = 'connecting';
  /** Error of the last failed attempt. */
  #lastError: SignalboxError | undefined;
  #farewell = Promise.resolve();

  constructor(options: ConnectionOptions, owner: ConnectionOwner) {
    this.#options = options;
    this.#owner = owner;
    this.#waiters = new Waiters(options.clock);
  }

  get state(): ConnectionState {
    return this.#reportedState;
  }

  get ending(): ClientEnding | null {
    return this.#state.kind === 'closed' ? this.#state.ending : null;
  }

  /**
   * The socket for a request. To be used synchronously: later the connection may be closed, and `room:leave` must be the
   * last request.
   *
   * @throws SignalboxError when it is not online
   */
  onlineSocket(): SingleUseSocket {
    if (this.#state.kind === 'online') return this.#state.socket;
    throw this.closedError ?? this.#lastError ?? clientError('UNREACHABLE');
  }

  /** Error for requests after close; undefined before. */
  get closedError(): SignalboxError | undefined {
    const { ending } = this;
    return ending === null ? undefined : (ending.error ?? clientError('CLOSED'));
  }

  /** Resolves when online or closed, at the latest at `until` (monotonic clock). */
  settled(until: number): Promise<void> {
    const { kind } = this.#state;
    return kind === 'online' || kind === 'closed' ? Promise.resolve() : this.#waiters.wait(until);
  }

  /** Starts an attempt, unless one is under way; not before the wait demanded by the server is over. */
  open(): void {
    const { kind } = this.#state;
    if (kind !== 'paused' && kind !== 'waiting') return;
    const { clock, schedule } = this.#options;
    const { blockedMs } = schedule;
    if (blockedMs > 0) {
      this.#wait(blockedMs);
      return;
    }
    const socket: SingleUseSocket = new SingleUseSocket(this.#options, this.#owner.handshake(), clock, {
      onPush: (push) => this.#isCurrent(socket) && this.#onPush(socket, push),
      onDown: (error) => this.#isCurrent(socket) && this.#onDown(error),
    });
    this.#enter({ kind: 'connecting', socket });
  }

  /** The network may be back, or the page is shown again: skips the back-off, but not the wait demanded by the server. */
  wake(): void {
    this.open();
    this.#reportState();
  }

  /** Closes the socket until `open`: the others see at once that this member is away. */
  pause(): void {
    this.#enter({ kind: 'paused' });
  }

  /** Replaces the connection, after a wait. */
  restart(error?: unknown): void {
    if (this.#state.kind === 'closed') return;
    // Any other exception is a defect of this SDK: a new connection may repair it.
    const known = error instanceof SignalboxError ? error : clientError('UNREACHABLE');
    this.#resetIfStable();
    const waitMs = this.#options.schedule.afterFailure(clampMs(known.retryAfterMs));
    this.#lastError = known;
    this.#wait(waitMs);
    this.#owner.attemptFailed(waitMs, known);
  }

  /** Sends a heartbeat, and reconnects if there is no answer in time. @returns the reply; undefined without one */
  async heartbeat(payload: RequestInput<'heartbeat'>, timeoutMs: number): Promise<Reply<'heartbeat'> | undefined> {
    if (this.#state.kind !== 'online') return undefined;
    const { socket } = this.#state;
    const answer = await socket.request('heartbeat', payload, timeoutMs);
    if (!this.#isCurrent(socket)) return undefined;
    if (answer === undefined) this.restart();
    return answer?.ok ? answer : undefined;
  }

  /** Closes for good. Resolves when the server has freed the seat, or cannot be reached. */
  close(ending: ClientEnding): Promise<void> {
    if (this.#state.kind !== 'closed') this.#farewell = this.#close(ending);
    return this.#farewell;
  }

  async #close(ending: ClientEnding): Promise<void> {
    const before = this.#state;
    const socket = socketOf(before);
    if (before.kind === 'waiting') before.stopTimer();
    // The socket stays open for `room:leave`, but is no longer current: its pushes are ignored.
    this.#state = { kind: 'closed', ending };
    this.#reportState();
    this.#waiters.release();
    const mayHaveSeat = before.kind === 'restoring' || before.kind === 'online';
    if (mayHaveSeat && ending.reason === 'closed') await socket?.request('room:leave', {}, FAREWELL_MS);
    socket?.close();
  }

  #onPush(socket: SingleUseSocket, push: AnyPush): void {
    if (push.name === 'welcome') void this.#onWelcome(socket, push.body);
    else if (push.name === 'session:replaced') void this.close({ reason: 'replaced' });
    else if (push.name === 'session:kicked') void this.close({ reason: push.body.banned ? 'banned' : 'kicked' });
    else if (push.name === 'server:drain') this.#onDrain(push.body.reconnectInMs);
    else this.#owner.pushReceived(push);
  }

  async #onWelcome(socket: SingleUseSocket, welcome: Push<'welcome'>): Promise<void> {
    this.#state = { kind: 'restoring', socket };
    const { clock, timeoutMs } = this.#options;
    try {
      await this.#owner.restore(welcome, async (name, payload) => {
        const answer = await socket.request(name, payload, timeoutMs);
        if (answer === undefined) throw clientError('TIMEOUT');
        return replyOf(answer);
      });
    } catch (error) {
      if (this.#isCurrent(socket)) this.restart(error);
      return;
    }
    if (!this.#isCurrent(socket)) return;
    this.#lastError = undefined;
    this.#disconnectedState = 'reconnecting';
    this.#state = { kind: 'online', socket, since: clock.monotonic() };
    this.#waiters.release();
    this.#reportState();
  }

  #onDown(error: ErrorBody | undefined): void {
    if (error?.code === 'SESSION_EXPIRED' && this.#owner.forgetToken()) {
      this.pause();
      this.open();
      return;
    }
    const reason = error && new SignalboxError(error);
    if (reason?.retryable === false) void this.close({ reason: 'refused', error: reason });
    else this.restart(reason);
  }

  #onDrain(reconnectInMs: number): void {
    this.#resetIfStable();
    this.#wait(this.#options.schedule.afterDrain(clampMs(reconnectInMs)));
  }

  #resetIfStable(): void {
    const { clock, schedule } = this.#options;
    if (this.#state.kind === 'online' && clock.monotonic() - this.#state.since > STABLE_MS) schedule.reset();
  }

  #wait(ms: number): void {
    this.#enter({ kind: 'waiting', stopTimer: this.#options.clock.after(ms, () => this.open()) });
  }

  #isCurrent(socket: SingleUseSocket): boolean {
    return socket === socketOf(this.#state);
  }

  /** Releases the timer or the socket of the old state. `next` must not contain the same socket. */
  #enter(next: State): void {
    if (this.#state.kind === 'waiting') this.#state.stopTimer();
    socketOf(this.#state)?.close();
    this.#state = next;
    this.#reportState();
  }

  #reportState(): void {
    const { kind } = this.#state;
    const state = kind === 'online' || kind === 'closed' ? kind : isOffline() ? 'offline' : this.#disconnectedState;
    if (state === this.#reportedState) return;
    this.#reportedState = state;
    this.#owner.stateChanged(state);
  }
}

const socketOf = (state: State): SingleUseSocket | undefined => ('socket' in state ? state.socket : undefined);

/** @throws SignalboxError */
export function replyOf<Name extends RequestName>(answer: Acknowledgement<Name>): Reply<Name> {
  // Another kind of server may send any answer.
  if (answer?.ok) return answer;
  throw answer?.error ? new SignalboxError(answer.error) : clientError('INTERNAL');
}
