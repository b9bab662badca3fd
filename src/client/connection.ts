/** A connection that comes back: one link after the other, and who waits for one. It knows nothing of rooms. */
import type { Acknowledgement, ErrorBody, Push, Reply, RequestInput, RequestName } from '../protocol/index.ts';
import { type Backoff, delayBefore } from './backoff.ts';
import type { ClientEnding, ConnectionState } from './client.ts';
import { clientError, SignalboxError } from './errors.ts';
import { type AnyPush, Link } from './link.ts';
import { isOffline, watchSurroundings } from './surroundings.ts';

/** Asks over whatever connection there is. Rejects with a SignalboxError. */
export type Ask = <Name extends RequestName>(name: Name, payload: RequestInput<Name>) => Promise<Reply<Name>>;

export interface ConnectionSetup {
  readonly url: string;
  readonly path: string | undefined;
  readonly timeoutMs: number;
  readonly backoff: Backoff;
  /** What goes with a handshake; asked for every attempt. */
  readonly auth: () => Record<string, unknown>;
  /** The token that went with it is of no use. @returns whether there was one. */
  readonly forget: () => boolean;
  /** Welcomed: whatever is needed to be as we were. Online afterwards; when it rejects, the attempt has failed. */
  readonly restore: (welcome: Push<'welcome'>, ask: Ask) => Promise<void>;
  readonly push: (push: AnyPush) => void;
  /** The revision that the room has reached, as far as we know it. */
  readonly rev: () => number | undefined;
  /** The revision that it has reached, as far as the server knows; null when it knows us in no room. */
  readonly beaten: (rev: number | null) => void;
  /** The page goes away for good, and nothing is kept that could bring it back. */
  readonly gone: () => boolean;
  readonly changed: (state: ConnectionState) => void;
  readonly failed: (retryInMs: number, error: SignalboxError) => void;
}

/** A link that has been looked after for less than this is asked, after a pause of the page, whether it is alive. */
const ALIVE_MS = 4_000;

export class Connection {
  readonly #setup: ConnectionSetup;
  readonly #unwatch: () => void;
  /** Who waits to be online. */
  readonly #waiting = new Set<() => void>();
  #state: ConnectionState = 'connecting';
  #ending: ClientEnding | null = null;
  #link: Link | undefined;
  #attempt = 0;
  #retry: ReturnType<typeof setTimeout> | undefined;
  #beat: ReturnType<typeof setInterval> | undefined;
  /** Why the last attempt has failed. */
  #fault: SignalboxError | undefined;
  #hasBeenOnline = false;

  constructor(setup: ConnectionSetup) {
    this.#setup = setup;
    this.#unwatch = watchSurroundings({
      wake: () => this.#wake(),
      hide: (mayReturn) => this.#hide(mayReturn),
      show: () => this.open(),
    });
  }

  get state(): ConnectionState {
    return this.#state;
  }

  get ending(): ClientEnding | null {
    return this.#ending;
  }

  /** Begins an attempt, unless one is under way. */
  open(): void {
    clearTimeout(this.#retry);
    if (this.#link !== undefined || this.#ending !== null) return;
    const { url, path, auth, timeoutMs } = this.#setup;
    const link = new Link({
      url,
      path,
      auth: auth(),
      patienceMs: timeoutMs,
      push: (push) => this.#hear(link, push),
      down: (error) => this.#down(error),
    });
    this.#link = link;
    this.#show(this.#unconnected());
  }

  /**
   * Waits for a connection, and for the answer.
   *
   * @param repeat whether it may be sent again when the connection was lost before the answer: only what does no harm
   * when it is done twice.
   */
  async request<Name extends RequestName>(
    name: Name,
    payload: RequestInput<Name>,
    repeat: boolean,
  ): Promise<Reply<Name>> {
    const until = Date.now() + this.#setup.timeoutMs;
    for (;;) {
      const link = await this.#online(until);
      const answer = await link.request(name, payload, Math.max(1, until - Date.now()));
      const isOver = answer?.ok === false && answer.error.code === 'SESSION_EXPIRED';
      // The session is over, not we: the next one is asked.
      if (isOver) this.#lose(link);
      if (answer !== undefined && !isOver) return granted(answer);
      if (!repeat || Date.now() >= until) throw clientError('TIMEOUT');
    }
  }

  /** Resolves when online. @param until by the clock of this machine */
  async online(until = Number.POSITIVE_INFINITY): Promise<void> {
    await this.#online(until);
  }

  /** Sends what needs no answer, if there is a connection. */
  tell(name: 'room:leave'): Promise<unknown> {
    return this.#state === 'online' && this.#link ? this.#link.request(name, {}, ALIVE_MS) : Promise.resolve();
  }

  /** Begins anew, after a pause: what is here is not what it should be. */
  restart(): void {
    if (this.#ending === null) this.#again();
  }

  /** For good. */
  close(ending: ClientEnding): void {
    if (this.#ending !== null) return;
    this.#ending = ending;
    this.#unwatch();
    this.#drop();
    this.#show('closed');
    for (const done of [...this.#waiting]) done();
  }

  async #online(until: number): Promise<Link> {
    if (this.#state !== 'online' && this.#ending === null) await this.#change(until - Date.now());
    if (this.#ending !== null) throw this.#ending.error ?? clientError('CLOSED');
    if (this.#state !== 'online' || this.#link === undefined) throw this.#fault ?? clientError('UNREACHABLE');
    return this.#link;
  }

  /** Resolves when we are online or closed, or the time is over. */
  #change(patienceMs: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = Number.isFinite(patienceMs) ? setTimeout(() => done(), patienceMs) : undefined;
      const done = (): void => {
        clearTimeout(timer);
        this.#waiting.delete(done);
        resolve();
      };
      this.#waiting.add(done);
    });
  }

  #hear(link: Link, push: AnyPush): void {
    if (push.name === 'welcome') void this.#welcome(link, push.body);
    else if (push.name === 'session:replaced') this.close({ reason: 'replaced' });
    else if (push.name === 'session:kicked') this.close({ reason: push.body.banned ? 'banned' : 'kicked' });
    else if (push.name === 'server:drain') this.#move(push.body.reconnectInMs);
    else this.#setup.push(push);
  }

  async #welcome(link: Link, welcome: Push<'welcome'>): Promise<void> {
    try {
      await this.#setup.restore(welcome, async (name, payload) => {
        const answer = await link.request(name, payload, this.#setup.timeoutMs);
        if (answer === undefined) throw clientError('TIMEOUT');
        return granted(answer);
      });
    } catch (error) {
      // Whatever else went wrong is not the server's to repair.
      const { retryAfterMs } = error instanceof SignalboxError ? error : clientError('UNREACHABLE');
      if (link === this.#link) this.#again(retryAfterMs, error);
      return;
    }
    if (link !== this.#link) return;
    this.#attempt = 0;
    this.#fault = undefined;
    this.#hasBeenOnline = true;
    this.#beat = setInterval(() => void this.#verify(this.#setup.timeoutMs), welcome.heartbeatIntervalMs);
    this.#show('online');
    for (const done of [...this.#waiting]) done();
  }

  #down(error: ErrorBody | undefined): void {
    if (error?.code === 'SESSION_EXPIRED' && this.#setup.forget()) {
      this.#drop();
      this.open();
    } else if (error === undefined || error.retryable) {
      this.#again(error?.retryAfterMs, error && new SignalboxError(error));
    } else {
      this.close({ reason: 'refused', error: new SignalboxError(error) });
    }
  }

  #lose(link: Link): void {
    if (link === this.#link) this.#again();
  }

  #again(leastMs?: number, error: unknown = clientError('UNREACHABLE')): void {
    this.#fault = error instanceof SignalboxError ? error : clientError('UNREACHABLE');
    const wait = delayBefore(this.#attempt, this.#setup.backoff, leastMs);
    this.#attempt += 1;
    this.#wait(wait);
    this.#setup.failed(wait, this.#fault);
  }

  /** The server goes away, and has spread its clients over some time: exactly when it says. */
  #move(afterMs: number): void {
    this.#attempt = 0;
    this.#wait(afterMs);
  }

  #wait(ms: number): void {
    this.#drop();
    this.#retry = setTimeout(() => this.open(), ms);
    this.#show(this.#unconnected());
  }

  #drop(): void {
    clearTimeout(this.#retry);
    clearInterval(this.#beat);
    this.#link?.close();
    this.#link = undefined;
  }

  /** After a pause, or a word about the network: a wait is over, and a link must show that it lives. */
  #wake(): void {
    if (this.#state === 'online') void this.#verify(ALIVE_MS);
    else if (this.#state !== 'closed') {
      this.open();
      this.#show(this.#unconnected());
    }
  }

  #hide(mayReturn: boolean): void {
    if (!mayReturn && this.#setup.gone()) return;
    // The others see at once that we are away, and a page without an open connection may be kept.
    this.#drop();
    if (this.#state !== 'closed') this.#show(this.#unconnected());
  }

  async #verify(patienceMs: number): Promise<void> {
    const link = this.#link;
    const rev = this.#setup.rev();
    const answer = await link?.request('heartbeat', rev === undefined ? {} : { rev }, patienceMs);
    if (link === undefined || link !== this.#link) return;
    if (answer === undefined) this.#lose(link);
    else if (answer.ok) this.#setup.beaten(answer.rev);
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
  if (!answer.ok) throw new SignalboxError(answer.error);
  return answer;
}
