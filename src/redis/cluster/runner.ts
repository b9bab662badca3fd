/**
 * Runs scripts at the masters of a Cluster, each at the master of its first key. Each master has its own bound of what is in
 * flight, its own circuit and its own refusals: where one fails, only its shards do.
 */
import { withDeadline } from '../../support/deadline.ts';
import { HealthRecord } from '../../support/health-record.ts';
import { type StoreHealth, StoreUnavailable } from '../../support/store.ts';
import type { ClusterConnections, RedisClient } from '../client.ts';
import type { Urgency } from '../in-flight.ts';
import type { Script } from '../script.ts';
import { classified, type Runner, ScriptRunner, type ScriptRunnerOptions } from '../script-runner.ts';

export interface RunnerOptions extends Omit<ScriptRunnerOptions, 'client'> {
  readonly client: RedisClient;
}

/** Of one server, or of the masters of a Cluster. */
export function createRunner(options: RunnerOptions): Runner {
  const { cluster } = options.client;
  return cluster === undefined ? new ScriptRunner(options) : new ClusterRunner(options, cluster);
}

/** Suffixes that are tried for a key of a master: a master with a hundredth of the slots is found in far fewer. */
const MAX_SUFFIX = 4_096;

class ClusterRunner implements Runner {
  readonly #options: RunnerOptions;
  readonly #cluster: ClusterConnections;
  readonly #runners = new Map<string, ScriptRunner>();
  readonly #health: HealthRecord;

  constructor(options: RunnerOptions, cluster: ClusterConnections) {
    this.#options = options;
    this.#cluster = cluster;
    this.#health = new HealthRecord(options.clock, options.onChange);
  }

  answersTo(key: string): boolean {
    const name = this.#cluster.ownerOf(key);
    return name !== undefined && this.#runnerOf(name).answers;
  }

  async run(script: Script, keys: string[], args: string[], urgency: Urgency = 'ordinary'): Promise<unknown> {
    const name = this.#cluster.ownerOf(keys[0] ?? '');
    if (name === undefined) throw new StoreUnavailable('no master of the Cluster has the slot');
    return this.#runnerOf(name).run(script, keys, args, urgency);
  }

  /** At each master, with a key of its own; the reply is of the master of the given key. */
  async probe(script: Script, keys: string[], args: string[]): Promise<unknown> {
    const [key = ''] = keys;
    const owner = this.#cluster.ownerOf(key);
    const replies = await Promise.all(
      this.#cluster.names.map(async (name) => {
        const own = name === owner ? key : this.#keyAt(name, key);
        const reply = own === undefined ? undefined : await this.#runnerOf(name).probe(script, [own], args);
        return name === owner ? reply : undefined;
      }),
    );
    return replies.find((reply) => reply !== undefined);
  }

  async load(scripts: readonly Script[]): Promise<void> {
    await Promise.all(this.#all.map((runner) => runner.load(scripts)));
  }

  async call<T>(send: () => Promise<T>): Promise<T> {
    const { deadlineMs } = this.#options;
    const late = (): Error => new StoreUnavailable(`Redis has not answered within ${deadlineMs} ms`);
    try {
      return await withDeadline(send(), deadlineMs, late);
    } catch (error) {
      throw classified(error);
    }
  }

  health(): StoreHealth {
    this.updateHealth();
    return this.#health.current;
  }

  updateHealth(): void {
    this.#health.update(this.#condition());
  }

  #condition(): Pick<StoreHealth, 'state' | 'reason'> {
    const healths = this.#all.map((runner) => runner.health());
    const down = healths.filter(({ state }) => state === 'down');
    const reason = down[0]?.reason ?? 'no connection';
    if (down.length === healths.length) return { state: 'down', reason };
    if (down.length > 0)
      return { state: 'recovering', reason: `${down.length} of ${healths.length} masters: ${reason}` };
    const problem = this.#options.messageProblem();
    return problem === undefined ? { state: 'up' } : { state: 'recovering', reason: problem };
  }

  get #all(): ScriptRunner[] {
    return this.#cluster.names.map((name) => this.#runnerOf(name));
  }

  #keyAt(name: string, key: string): string | undefined {
    for (let suffix = 0; suffix < MAX_SUFFIX; suffix += 1) {
      const own = `${key}:${suffix}`;
      if (this.#cluster.ownerOf(own) === name) return own;
    }
    return undefined; // it has hardly any slots
  }

  #runnerOf(name: string): ScriptRunner {
    const known = this.#runners.get(name);
    if (known !== undefined) return known;
    for (const other of this.#runners.keys()) if (!this.#cluster.names.includes(other)) this.#runners.delete(other);
    const { client } = this.#options;
    const cluster = this.#cluster;
    const runner = new ScriptRunner({
      ...this.#options,
      client: {
        get isReady() {
          return cluster.client(name) !== undefined;
        },
        problem: undefined,
        evalSha: (sha, call) => client.evalSha(sha, call),
        eval: (source, call) => client.eval(source, call),
        scriptLoad: (source) => cluster.client(name)?.scriptLoad(source) ?? Promise.reject(new Error('not connected')),
      },
      messageProblem: () => undefined,
      onChange: () => this.updateHealth(),
      onNoPrimary: () => cluster.refresh(),
    });
    this.#runners.set(name, runner);
    return runner;
  }
}
