/** The connection that scripts run on: every answer has a deadline, and every failure of the store one name. */
import { ErrorReply } from 'redis';
import { withDeadline } from '../../support/deadline.ts';
import { type EngineHealth, StoreUnavailable } from '../engine.ts';
import type { RedisClient } from './connect.ts';
import type { Script } from './scripts.ts';

export type StateClient = Pick<RedisClient, 'isReady' | 'evalSha' | 'eval'>;

export interface StateOptions {
  readonly client: StateClient;
  readonly deadlineMs: number;
  /** Whether everything else that the engine stands on is connected. */
  readonly complete: () => boolean;
  readonly onChange: (state: EngineHealth['state']) => void;
}

/** What Redis says when it cannot serve now. Any other error reply is a fault of ours, or of its configuration. */
const PASSING =
  /^(READONLY|MOVED|ASK|CLUSTERDOWN|TRYAGAIN|OOM|LOADING|BUSY|UNKILLABLE|MASTERDOWN|NOREPLICAS|MISCONF|UNBLOCKED)\b/;

export class State {
  readonly #options: StateOptions;
  #stalled = false;
  #health: EngineHealth = { state: 'up', since: Date.now() };

  constructor(options: StateOptions) {
    this.#options = options;
  }

  /** @throws StoreUnavailable */
  run(script: Script, keys: string[], args: string[]): Promise<unknown> {
    const { client } = this.#options;
    const call = { keys, arguments: args };
    return this.ask(async () => {
      try {
        return await client.evalSha(script.sha, call);
      } catch (error) {
        // The scripts were flushed, or another Redis took over: EVAL runs it and loads it again.
        if (error instanceof ErrorReply && error.message.startsWith('NOSCRIPT')) {
          return client.eval(script.source, call);
        }
        throw error;
      }
    });
  }

  /** @throws StoreUnavailable at once when Redis is known not to answer, else after the deadline. */
  async ask<T>(question: () => Promise<T>): Promise<T> {
    if (!this.#answers()) {
      this.noteHealth();
      throw new StoreUnavailable('Redis does not answer');
    }
    const answer = question().finally(this.#answered);
    try {
      return await withDeadline(answer, this.#options.deadlineMs, this.#missed);
    } catch (error) {
      throw named(error);
    }
  }

  health(): EngineHealth {
    this.noteHealth();
    return this.#health;
  }

  /** To be called when a connection has come or gone, so that `since` is right. */
  noteHealth(): void {
    const whole = this.#options.complete() ? 'up' : 'recovering';
    const state = this.#answers() ? whole : 'down';
    if (state === this.#health.state) return;
    this.#health = { state, since: Date.now() };
    this.#options.onChange(state);
  }

  /**
   * A frozen Redis stays connected and would carry out, when it thaws, whatever was written to it meanwhile: after one
   * missed deadline nothing more is written until it has answered, or the connection was lost.
   */
  #answers(): boolean {
    return this.#options.client.isReady && !this.#stalled;
  }

  readonly #answered = (): void => {
    this.#stalled = false;
    if (this.#health.state !== 'up') this.noteHealth();
  };

  readonly #missed = (): Error => {
    this.#stalled = true;
    this.noteHealth();
    return new StoreUnavailable(`Redis has not answered within ${this.#options.deadlineMs} ms`);
  };
}

function named(error: unknown): unknown {
  if (error instanceof StoreUnavailable) return error;
  if (error instanceof ErrorReply && !PASSING.test(error.message)) return error;
  // Ours, not the store's.
  if (error instanceof TypeError || error instanceof RangeError || error instanceof SyntaxError) return error;
  const reason = error instanceof Error ? error.message : String(error);
  return new StoreUnavailable(`Redis is not available: ${reason}`, { cause: error });
}
