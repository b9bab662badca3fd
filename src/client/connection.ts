/** A connection that comes back: one link after the other, and who waits for one. It knows nothing of rooms. */
import type { Acknowledgement, ErrorBody, Push, Reply, RequestInput, RequestName } from '../protocol/index.ts';
import { type Backoff, delayBefore } from './backoff.ts';
import { clampMs } from './clamp-ms.ts';
import type { ClientEnding, ConnectionState } from './client.ts';
import { clientError, SignalboxError } from './errors.ts';
import { isOffline, watchPage } from './page-lifecycle.ts';
import { checkPayload } from './payload-check.ts';
import { type AnyPush, SingleUseSocket, type SocketOptions } from './single-use-socket.ts';
import { Waiters } from './waiters.ts';

/** Asks over whatever connection there is. Rejects with a SignalboxError. */
export type Ask = <Name extends RequestName>(name: Name, payload: RequestInput<Name>) => Promise<Reply<Name>>;

export interface ConnectionSetup extends SocketOptions {
  readonly backoff: Backoff;
  /** The token that went with it is of no use. @returns whether there was one. */
  readonly forget: () => boolean;
  /** Welcomed: whatever is needed to be as we were. Online afterwards; when it rejects, the attempt has failed. */
  readonly restore: (welcome: Push<'welcome'>, ask: Ask) => Promise<void>;
  readonly push: (push: AnyPush) => void;
  /** The revision that the room has reached, as far as we know it. */
  readonly rev: () => number | undefined;
  /** The revision that it has reached, as far as the server knows; null when it knows us in no room. */
  readonly beaten: (rev: number | null) => void;
  /** The page goes away for good. @returns whether that was the end: nothing is kept that could bring it back. */
  readonly gone: () => boolean;
  readonly changed: (state: ConnectionState) => void;
  readonly failed: (retryInMs: number, error: SignalboxError) => void;
}

/** Within this, a server that is there has answered; a pause of the page may have ended the link without a word. */
const ALIVE_MS = 4_000;
/** Of a server that does not say how often it wants a heartbeat. */
const BEAT_MS = 30_000;
/** A connection that was lost sooner was hardly one. */
const LASTING_MS = 5_000;

export class Connection {
  readonly #setup: ConnectionSetup;
  readonly #unwatch: () => void;
  /** Who waits to be online. */
  readonly #waiting = new Waiters();
  #state: ConnectionState = 'connecting';
  #ending: ClientEnding | null = null;
  #link: SingleUseSocket | undefined;
  #attempt = 0;
  #retry: ReturnType<typeof setTimeout> | undefined;
  /** The server has asked not to be asked before. By `performance.now()`, as nobody sets that clock. */
  #notBefore = 0;
  #beat: ReturnType<typeof setInterval> | undefined;
  /** Why the last attempt has failed. */
  #fault: SignalboxError | undefined;
  #hasBeenOnline = false;
  #onlineSince = 0;
  /** The link has been welcomed, and may have a seat by that. */
  #isWelcome = false;
  #farewell = Promise.resolve();

  constructor(setup: ConnectionSetup) {
    this.#setup = setup;
    this.#unwatch = watchPage({
      wake: () => this.#wake(),
      hide: (mayReturn) => this.#hide(mayReturn),
    });
  }

  get state(): ConnectionState {
    return this.#state;
  }

  get ending(): ClientEnding | null {
    return this.#ending;
  }

  /** Begins an attempt, unless one is under way, as soon as the server lets us. */
  open(): void {
    clearTimeout(this.#retry);
    if (this.#link !== undefined || this.#ending !== null) return;
    const early = this.#notBefore - performance.now();
    if (early > 0) {
      this.#retry = setTimeout(() => this.open(), early);
      return;
    }
    const link: SingleUseSocket = new SingleUseSocket(
      this.#setup,
      (push) => link === this.#link && this.#hear(link, push),
      (error) => link === this.#link && this.#down(error),
    );
    this.#link = link;
    this.#show(this.#unconnected());
  }

  /**
   * Waits for a connection, and for the answer.
   *
   * @param repeat whether it may be sent again when the connection was lost before the answer: only what does no harm
   * when it is done twice.
   * @param isDue whether it still means something: asked right before it is sent.
   * @param until when it is given up
   */
  async request<Name extends RequestName>(
    name: Name,
    payload: RequestInput<Name>,
    repeat: boolean,
    isDue = (): boolean => true,
    until = this.until(),
  ): Promise<Reply<Name>> {
    checkPayload(payload);
    for (;;) {
      await this.#change(until);
      if (!isDue()) throw clientError('CLOSED');
      const answer = await this.#online().request(name, payload, until - performance.now());
      if (answer !== undefined) return granted(answer);
      if (!repeat || performance.now() >= until) throw this.#over() ?? clientError('TIMEOUT');
    }
  }

  /** When a request of this moment is given up, by `performance.now()`. */
  until(): number {
    return performance.now() + this.#setup.timeoutMs;
  }

  /** Resolves when online; rejects when that takes as long as a request may. */
  async online(): Promise<void> {
    await this.#change(this.until());
    this.#online();
  }

  /** Begins anew, after a pause: what is here is not what it should be. */
  restart(error: unknown): void {
    if (this.#ending === null) this.#again(error);
  }

  /** For good. Resolves when the server knows that the seat is free, or cannot be told. */
  close(ending: ClientEnding): Promise<void> {
    if (this.#ending === null) this.#farewell = this.#close(ending);
    return this.#farewell;
  }

  async #close(ending: ClientEnding): Promise<void> {
    const link = this.#link;
    const mayTell = this.#isWelcome && ending.reason === 'closed';
    this.#ending = ending;
    this.#unwatch();
    // Nothing is heard of it any more, yet it takes the last word along.
    this.#link = undefined;
    this.#drop();
    this.#show('closed');
    this.#waiting.release();
    if (mayTell) await link?.request('room:leave', {}, ALIVE_MS);
    link?.close();
  }

  /** To be used in the same turn: in the next, the end may have come, and a farewell be the last that is sent. */
  #online(): SingleUseSocket {
    const link = this.#state === 'online' && this.#link;
    if (!link) throw this.#over() ?? this.#fault ?? clientError('UNREACHABLE');
    return link;
  }

  /** Why nothing will come of it any more. */
  #over(): SignalboxError | undefined {
    if (this.#ending === null) return undefined;
    return this.#ending.reason === 'refused' ? this.#ending.error : clientError('CLOSED');
  }

  /** Resolves when we are online or closed, or the time is over. Those who have waited are as many turns away as others. */
  #change(until: number): Promise<void> {
    return this.#state === 'online' || this.#ending !== null ? Promise.resolve() : this.#waiting.wait(until);
  }

  #hear(link: SingleUseSocket, push: AnyPush): void {
    if (push.name === 'welcome') void this.#welcome(link, push.body);
    else if (push.name === 'session:replaced') void this.close({ reason: 'replaced' });
    else if (push.name === 'session:kicked') void this.close({ reason: push.body.banned ? 'banned' : 'kicked' });
    else if (push.name === 'server:drain') this.#move(push.body.reconnectInMs);
    else this.#setup.push(push);
  }

  async #welcome(link: SingleUseSocket, welcome: Push<'welcome'>): Promise<void> {
    this.#isWelcome = true;
    const { restore, timeoutMs } = this.#setup;
    try {
      await restore(welcome, async (name, payload) => {
        const answer = await link.request(name, payload, timeoutMs);
        if (answer === undefined) throw clientError('TIMEOUT');
        return granted(answer);
      });
    } catch (error) {
      if (link === this.#link) this.#again(error);
      return;
    }
    if (link !== this.#link) return;
    this.#onlineSince = performance.now();
    this.#fault = undefined;
    this.#hasBeenOnline = true;
    clearInterval(this.#beat);
    this.#beat = setInterval(() => void this.#verify(timeoutMs), clampMs(welcome.heartbeatIntervalMs, BEAT_MS));
    this.#waiting.release();
    this.#show('online');
  }

  #down(error: ErrorBody | undefined): void {
    if (error?.code === 'SESSION_EXPIRED' && this.#setup.forget()) {
      this.#drop();
      this.open();
      return;
    }
    const reason = error && new SignalboxError(error);
    if (reason?.retryable === false) void this.close({ reason: 'refused', error: reason });
    else this.#again(reason);
  }

  #again(error?: unknown): void {
    // Whatever else went wrong is not the server's to repair.
    const fault = error instanceof SignalboxError ? error : clientError('UNREACHABLE');
    const retryAfterMs = clampMs(fault.retryAfterMs);
    this.#forgive();
    const wait = delayBefore(this.#attempt, this.#setup.backoff, retryAfterMs);
    this.#attempt += 1;
    this.#fault = fault;
    this.#wait(wait, retryAfterMs);
    this.#setup.failed(wait, fault);
  }

  /** The server goes away, and has spread its clients over some time: exactly when it says. */
  #move(toldMs: number): void {
    const afterMs = clampMs(toldMs);
    this.#forgive();
    // A server that sends everybody away as soon as they have come is not asked any faster than one that is not there.
    this.#wait(this.#attempt === 0 ? afterMs : delayBefore(this.#attempt, this.#setup.backoff, afterMs), afterMs);
    this.#attempt += 1;
  }

  /** A connection that has lasted: what went wrong before it counts no more. */
  #forgive(): void {
    if (this.#state === 'online' && performance.now() - this.#onlineSince > LASTING_MS) this.#attempt = 0;
  }

  /** @param leastMs what nothing makes shorter: no word about the network, no page that is looked at again. */
  #wait(ms: number, leastMs: number): void {
    this.#drop();
    this.#notBefore = performance.now() + leastMs;
    this.#retry = setTimeout(() => this.open(), ms);
    this.#show(this.#unconnected());
  }

  #drop(): void {
    clearTimeout(this.#retry);
    clearInterval(this.#beat);
    this.#link?.close();
    this.#link = undefined;
    this.#isWelcome = false;
  }

  /** After a pause, or a word about the network: a wait is over, and a link must show that it lives. */
  #wake(): void {
    if (this.#ending !== null) return;
    if (this.#state === 'online') return void this.#verify(ALIVE_MS);
    this.open();
    this.#show(this.#unconnected());
  }

  #hide(mayReturn: boolean): void {
    if (!mayReturn && this.#setup.gone()) return;
    // The others see at once that we are away, and a page without an open connection may be kept.
    this.#drop();
    this.#show(this.#unconnected());
  }

  async #verify(patienceMs: number): Promise<void> {
    const link = this.#link;
    const rev = this.#setup.rev();
    const answer = await link?.request('heartbeat', rev === undefined ? {} : { rev }, patienceMs);
    if (link === undefined || link !== this.#link) return;
    if (answer === undefined) this.#again();
    else if (answer?.ok) this.#setup.beaten(answer.rev);
  }

  #unconnected(): ConnectionState {
    if (isOffline()) return 'offline';
    return this.#hasBeenOnline ? 'reconnecting' : 'connecting';
  }

  #show(state: ConnectionState): void {
    if (state === this.#state) return;
    this.#state = state;
    this.#setup.changed(state);
  }
}

function granted<Name extends RequestName>(answer: Acknowledgement<Name>): Reply<Name> {
  // A server that is none of ours may answer anything.
  if (answer?.ok) return answer;
  throw answer?.error ? new SignalboxError(answer.error) : clientError('INTERNAL');
}
