/** Runs scripts and commands on one connection: every call has a deadline, and every failure of the store one class. */
import { ErrorReply } from 'redis';
import type { Clock } from '../support/clock.ts';
import { withDeadline } from '../support/deadline.ts';
import { type StoreHealth, StoreUnavailable } from '../support/store.ts';
import type { RedisClient } from './connect.ts';
import { InFlight, type InFlightBounds, type Urgency } from './in-flight.ts';
import type { Script } from './script.ts';

export type ScriptClient = Pick<RedisClient, 'isReady' | 'evalSha' | 'eval' | 'scriptLoad'>;

export interface ScriptRunnerOptions {
  readonly client: ScriptClient;
  readonly deadlineMs: number;
  /** Whether every other connection of this node is ready: without them the health is `recovering` at best. */
  readonly complete: () => boolean;
  readonly onChange: (state: StoreHealth['state']) => void;
  readonly clock: Pick<Clock, 'now'>;
  /** Smaller ones, in tests. */
  readonly inFlight?: InFlightBounds;
}

/** Error replies while Redis cannot serve. Any other one is a bug of ours, or a fault of its configuration. */
const TRANSIENT =
  /^(READONLY|MOVED|ASK|CLUSTERDOWN|TRYAGAIN|OOM|LOADING|BUSY|UNKILLABLE|MASTERDOWN|NOREPLICAS|MISCONF|UNBLOCKED)\b/;

export class ScriptRunner {
  readonly #options: ScriptRunnerOptions;
  readonly #inFlight: InFlight;
  #stalled = false;
  #health: StoreHealth;

  constructor(options: ScriptRunnerOptions) {
    this.#options = options;
    this.#inFlight = new InFlight(options.inFlight);
    this.#health = { state: 'up', since: options.clock.now() };
  }

  /** @throws StoreUnavailable, also when too many commands wait for Redis already */
  run(script: Script, keys: string[], args: string[], urgency: Urgency = 'ordinary'): Promise<unknown> {
    const size = args.reduce((sum, { length }) => sum + length, 0);
    // Inside of the deadline: a command that has missed it is in flight until Redis replies, or the connection is lost.
    return this.call(() => this.#inFlight.run(script.sha, size, urgency, () => this.#evaluate(script, keys, args)));
  }

  async #evaluate(script: Script, keys: string[], args: string[]): Promise<unknown> {
    const { client } = this.#options;
    const call = { keys, arguments: args };
    try {
      return await client.evalSha(script.sha, call);
    } catch (error) {
      // The scripts were flushed, or another Redis took over: EVAL runs the script and loads it again.
      if (error instanceof ErrorReply && error.message.startsWith('NOSCRIPT')) return client.eval(script.source, call);
      throw error;
    }
  }

  /**
   * Loads scripts beforehand, so that their first run is one round trip too.
   *
   * @throws StoreUnavailable
   */
  async load(scripts: readonly Script[]): Promise<void> {
    await this.call(() => Promise.all(scripts.map(({ source }) => this.#options.client.scriptLoad(source))));
  }

  /** @throws StoreUnavailable at once when Redis is known not to answer, else after the deadline. */
  async call<T>(send: () => Promise<T>): Promise<T> {
    if (!this.#answers()) {
      this.updateHealth();
      throw new StoreUnavailable('Redis does not answer');
    }
    const reply = send().finally(this.#replied);
    try {
      return await withDeadline(reply, this.#options.deadlineMs, this.#missed);
    } catch (error) {
      throw classified(error);
    }
  }

  health(): StoreHealth {
    this.updateHealth();
    return this.#health;
  }

  /** To be called when a connection has come up or was lost, so that `since` is right. */
  updateHealth(): void {
    const whole = this.#options.complete() ? 'up' : 'recovering';
    const state = this.#answers() ? whole : 'down';
    if (state === this.#health.state) return;
    this.#health = { state, since: this.#options.clock.now() };
    this.#options.onChange(state);
  }

  /**
   * Circuit breaker: after one missed deadline nothing more is sent until Redis has replied, or the connection was lost.
   * A frozen Redis stays connected, and when it thaws it would run everything that was sent to it meanwhile.
   */
  #answers(): boolean {
    return this.#options.client.isReady && !this.#stalled;
  }

  readonly #replied = (): void => {
    this.#stalled = false;
    if (this.#health.state !== 'up') this.updateHealth();
  };

  readonly #missed = (): Error => {
    this.#stalled = true;
    this.updateHealth();
    return new StoreUnavailable(`Redis has not answered within ${this.#options.deadlineMs} ms`);
  };
}

/** Everything but bugs becomes a `StoreUnavailable`. */
function classified(error: unknown): unknown {
  if (error instanceof StoreUnavailable) return error;
  if (error instanceof ErrorReply && !TRANSIENT.test(error.message)) return error;
  // Thrown by our own code, not by the store.
  if (error instanceof TypeError || error instanceof RangeError || error instanceof SyntaxError) return error;
  const reason = error instanceof Error ? error.message : String(error);
  return new StoreUnavailable(`Redis is not available: ${reason}`, { cause: error });
}
