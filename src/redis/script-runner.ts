/** Runs scripts and commands on one connection: every call has a deadline, and every failure of the store one class. */
import { ErrorReply } from 'redis';
import type { Clock } from '../support/clock.ts';
import { withDeadline } from '../support/deadline.ts';
import { HealthRecord } from '../support/health-record.ts';
import { type StoreHealth, StoreUnavailable } from '../support/store.ts';
import type { RedisClient } from './client.ts';
import { InFlight, type InFlightBounds, type Urgency } from './in-flight.ts';
import { firstWordOf, isNoPrimary, refusalOf, saysUnavailable } from './refusals.ts';
import type { Script } from './script.ts';

export type ScriptClient = Pick<RedisClient, 'isReady' | 'problem' | 'evalSha' | 'eval' | 'scriptLoad'>;

/** Of one server, or of all masters of a Cluster: see `createRunner`. */
export type Runner = Pick<ScriptRunner, 'run' | 'probe' | 'load' | 'call' | 'answersTo' | 'health' | 'updateHealth'>;

export interface ScriptRunnerOptions {
  readonly client: ScriptClient;
  readonly deadlineMs: number;
  /** Why messages of other nodes may be missing: then the health is `recovering` at best. */
  readonly messageProblem: () => string | undefined;
  /** The state has changed, or the reason why it is not up. */
  readonly onChange: (health: StoreHealth) => void;
  /** Redis refuses because it is no primary, or not any more: called at each refusal. */
  readonly onNoPrimary: () => void;
  readonly clock: Pick<Clock, 'now'>;
  /** Smaller ones, in tests. */
  readonly inFlight?: InFlightBounds;
}

export class ScriptRunner {
  readonly #options: ScriptRunnerOptions;
  readonly #inFlight: InFlight;
  #stalled = false;
  /** First word of the reply by which Redis refused to work, until a script that writes has succeeded again. */
  #refusal: string | undefined;
  readonly #health: HealthRecord;

  constructor(options: ScriptRunnerOptions) {
    this.#options = options;
    this.#inFlight = new InFlight(options.inFlight);
    this.#health = new HealthRecord(options.clock, options.onChange);
  }

  /** @throws StoreUnavailable, also when too many commands wait for Redis already */
  async run(script: Script, keys: string[], args: string[], urgency: Urgency = 'ordinary'): Promise<unknown> {
    try {
      return await this.#runRaw(script, keys, args, urgency);
    } catch (error) {
      const refusal = refusalOf(error);
      if (refusal !== undefined) this.#refused(refusal);
      throw classified(error);
    }
  }

  /**
   * Runs a script to learn whether it succeeds: whatever Redis replies instead is a refusal. Never rejects.
   *
   * @returns the reply, undefined without success
   */
  async probe(script: Script, keys: string[], args: string[]): Promise<unknown> {
    try {
      return await this.#runRaw(script, keys, args, 'vital');
    } catch (error) {
      if (error instanceof ErrorReply) this.#refused(firstWordOf(error));
      return undefined;
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
    try {
      return await this.#send(send);
    } catch (error) {
      throw classified(error);
    }
  }

  /**
   * Whether Redis answers at all, were it with a refusal. Circuit breaker: after one missed deadline nothing more is sent
   * until Redis has replied, or the connection was lost. A frozen Redis stays connected, and when it thaws it would run
   * everything that was sent to it meanwhile.
   */
  get answers(): boolean {
    return this.#options.client.isReady && !this.#stalled;
  }

  /** The same, of the server of a key: there is only one. */
  answersTo(_key: string): boolean {
    return this.answers;
  }

  health(): StoreHealth {
    this.updateHealth();
    return this.#health.current;
  }

  /** To be called when a connection has come up or was lost, so that `since` is right. */
  updateHealth(): void {
    this.#health.update(this.#condition());
  }

  #condition(): Pick<StoreHealth, 'state' | 'reason'> {
    if (this.#stalled) return { state: 'down', reason: 'no reply' };
    // Also while the connections of a refusing Redis are made anew: it has not worked again yet.
    if (this.#refusal !== undefined) return { state: 'down', reason: this.#refusal };
    const { isReady, problem } = this.#options.client;
    if (!isReady) return { state: 'down', reason: problem ?? 'no connection' };
    const reason = this.#options.messageProblem();
    if (reason !== undefined) return { state: 'recovering', reason };
    return problem === undefined ? { state: 'up' } : { state: 'up', reason: problem };
  }

  #refused(refusal: string): void {
    this.#refusal = refusal;
    this.updateHealth();
    if (isNoPrimary(refusal)) this.#options.onNoPrimary();
  }

  /** Its errors are as node-redis throws them. */
  async #runRaw(script: Script, keys: string[], args: string[], urgency: Urgency): Promise<unknown> {
    const size = args.reduce((sum, arg) => sum + Buffer.byteLength(arg), 0);
    // Inside of the deadline: a command that has missed it is in flight until Redis replies, or the connection is lost.
    const reply = await this.#send(() =>
      this.#inFlight.run(script.sha, size, urgency, () => this.#evaluate(script, keys, args)),
    );
    if (script.provesWrites && this.#refusal !== undefined) {
      this.#refusal = undefined;
      this.updateHealth();
    }
    return reply;
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

  async #send<T>(send: () => Promise<T>): Promise<T> {
    if (!this.answers) {
      this.updateHealth();
      throw new StoreUnavailable('Redis does not answer');
    }
    return withDeadline(send().finally(this.#replied), this.#options.deadlineMs, this.#missed);
  }

  readonly #replied = (): void => {
    this.#stalled = false;
    if (this.#health.current.state !== 'up') this.updateHealth();
  };

  readonly #missed = (): Error => {
    this.#stalled = true;
    this.updateHealth();
    return new StoreUnavailable(`Redis has not answered within ${this.#options.deadlineMs} ms`);
  };
}

/** Everything but bugs becomes a `StoreUnavailable`. */
export function classified(error: unknown): unknown {
  if (error instanceof StoreUnavailable) return error;
  if (error instanceof ErrorReply && !saysUnavailable(error)) return error;
  // Thrown by our own code, not by the store.
  if (error instanceof TypeError || error instanceof RangeError || error instanceof SyntaxError) return error;
  const reason = error instanceof Error ? error.message : String(error);
  return new StoreUnavailable(`Redis is not available: ${reason}`, { cause: error });
}
