/**
 * A connection that is restored by itself: one single-use socket after the other. Its state is one value, and each state
 * holds exactly what exists in it (a socket, a timer), so that nothing of a former state stays behind. It knows nothing of
 * rooms.
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

/** What the connection asks of its client, and tells it. */
export interface ConnectionOwner {
  /** What goes with the handshake of the next attempt. */
  handshake(): object;
  /** The server does not know the resume token. @returns whether there was one to forget. */
  forgetToken(): boolean;
  /** Welcomed: restores the client's state on the server. Online when it resolves; if it rejects, the attempt has failed. */
  restore(welcome: Push<'welcome'>, ask: Ask): Promise<void>;
  push(push: AnyPush): void;
  stateChanged(state: ConnectionState): void;
  attemptFailed(retryInMs: number, error: SignalboxError): void;
}

type State =
  /** The page is hidden: nothing is open and nothing is planned until it is shown again. */
  | { readonly kind: 'paused' }
  | { readonly kind: 'waiting'; readonly stopTimer: Stop }
  /** Opened, not welcomed. */
  | { readonly kind: 'connecting'; readonly socket: SingleUseSocket }
  /** Welcomed; the server may have a seat for us from now on. */
  | { readonly kind: 'restoring'; readonly socket: SingleUseSocket }
  /** @property since by the monotonic clock */
  | { readonly kind: 'online'; readonly socket: SingleUseSocket; readonly since: number }
  | { readonly kind: 'closed'; readonly ending: ClientEnding };

/** A connection that was lost sooner does not reset the back-off. */
const STABLE_MS = 5_000;
/** How long `close` waits for the answer to its farewell. */
const FAREWELL_MS = 4_000;

export class Connection {
  readonly #options: ConnectionOptions;
  readonly #owner: ConnectionOwner;
  /** Callers that wait until it is online or closed. */
  readonly #waiters: Waiters;
  #state: State = { kind: 'paused' };
  /** The state that was last told. */
  #shown: ConnectionState = 'connecting';
  /** What a state without a connection is called: `connecting` until it was online for the first time. */
  #unconnected: ConnectionState = 'connecting';
  /** Why the last attempt failed. */
  #lastError: SignalboxError | undefined;
  #farewell = Promise.resolve();

  constructor(options: ConnectionOptions, owner: ConnectionOwner) {
    this.#options = options;
    this.#owner = owner;
    this.#waiters = new Waiters(options.clock);
  }

  get state(): ConnectionState {
    return this.#shown;
  }

  get ending(): ClientEnding | null {
    return this.#state.kind === 'closed' ? this.#state.ending : null;
  }

  /**
   * The socket for a request, to be used in the same turn: in the next one the connection may be closed, and its farewell
   * has to stay the last request.
   *
   * @throws SignalboxError when it is not online
   */
  onlineSocket(): SingleUseSocket {
    if (this.#state.kind === 'online') return this.#state.socket;
    throw this.closedError ?? this.#lastError ?? clientError('UNREACHABLE');
  }

  /** What requests reject with after the end; undefined before it. */
  get closedError(): SignalboxError | undefined {
    const { ending } = this;
    return ending === null ? undefined : (ending.error ?? clientError('CLOSED'));
  }

  /** Resolves when it is online or closed, or at that time. */
  settled(until: number): Promise<void> {
    const { kind } = this.#state;
    return kind === 'online' || kind === 'closed' ? Promise.resolve() : this.#waiters.wait(until);
  }

  /** Starts an attempt, unless one is under way, as soon as the server allows it. */
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
      push: (push) => this.#isCurrent(socket) && this.#onPush(socket, push),
      down: (error) => this.#isCurrent(socket) && this.#onDown(error),
    });
    this.#enter({ kind: 'connecting', socket });
  }

  /** The network may be back, or the page is shown again: no more waiting than the server demands. */
  wake(): void {
    this.open();
    this.#show();
  }

  /** Drops the connection until `open`: the others see at once that this member is away. */
  pause(): void {
    this.#enter({ kind: 'paused' });
  }

  /** Replaces the connection, after a wait. */
  restart(error?: unknown): void {
    if (this.#state.kind === 'closed') return;
    // Anything but an error of the server's or of ours is a fault here, which a new connection may mend.
    const known = error instanceof SignalboxError ? error : clientError('UNREACHABLE');
    this.#resetIfStable();
    const waitMs = this.#options.schedule.afterFailure(clampMs(known.retryAfterMs));
    this.#lastError = known;
    this.#wait(waitMs);
    this.#owner.attemptFailed(waitMs, known);
  }

  /** Sends a heartbeat. Without an answer in time the connection is replaced. @returns the answer, if it is one */
  async heartbeat(payload: RequestInput<'heartbeat'>, patienceMs: number): Promise<Reply<'heartbeat'> | undefined> {
    if (this.#state.kind !== 'online') return undefined;
    const { socket } = this.#state;
    const answer = await socket.request('heartbeat', payload, patienceMs);
    if (!this.#isCurrent(socket)) return undefined;
    if (answer === undefined) this.restart();
    return answer?.ok ? answer : undefined;
  }

  /** Ends it for good. Resolves when the server has freed the seat, or cannot be told. */
  close(ending: ClientEnding): Promise<void> {
    if (this.#state.kind !== 'closed') this.#farewell = this.#close(ending);
    return this.#farewell;
  }

  async #close(ending: ClientEnding): Promise<void> {
    const before = this.#state;
    const socket = socketOf(before);
    if (before.kind === 'waiting') before.stopTimer();
    // The socket stays open for the farewell, but is not current any more: its pushes are ignored.
    this.#state = { kind: 'closed', ending };
    this.#show();
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
    else this.#owner.push(push);
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
    this.#unconnected = 'reconnecting';
    this.#state = { kind: 'online', socket, since: clock.monotonic() };
    this.#waiters.release();
    this.#show();
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

  /** Leaves the state with its timer or socket, for one that has another socket or none. */
  #enter(next: State): void {
    if (this.#state.kind === 'waiting') this.#state.stopTimer();
    socketOf(this.#state)?.close();
    this.#state = next;
    this.#show();
  }

  #show(): void {
    const { kind } = this.#state;
    const state = kind === 'online' || kind === 'closed' ? kind : isOffline() ? 'offline' : this.#unconnected;
    if (state === this.#shown) return;
    this.#shown = state;
    this.#owner.stateChanged(state);
  }
}

const socketOf = (state: State): SingleUseSocket | undefined => ('socket' in state ? state.socket : undefined);

/** @throws SignalboxError */
export function replyOf<Name extends RequestName>(answer: Acknowledgement<Name>): Reply<Name> {
  // A server of another kind may answer anything.
  if (answer?.ok) return answer;
  throw answer?.error ? new SignalboxError(answer.error) : clientError('INTERNAL');
}
