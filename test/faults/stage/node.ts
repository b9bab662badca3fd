/** One node of the stage: a server process that comes back under its name, behind proxies of its own. */
import type { PartialOptions } from '../../../src/server/options/options.ts';
import { type LossyProxy, startLossyProxy } from '../../support/lossy-proxy.ts';
import { freePort } from '../../support/process.ts';
import { startProxy, type TcpProxy } from '../../support/proxy.ts';
import { type SignalboxProcess, startSignalbox } from '../../support/signalbox.ts';
import { machineMs } from '../clients/journal.ts';
import { type FakedTime, fakedTime } from './faked-time.ts';
import type { Timeline } from './timeline.ts';
import type { Topology } from './topology.ts';

export interface NodeSettings {
  readonly id: string;
  readonly store: Topology;
  readonly databaseUrl: string;
  readonly options: PartialOptions;
  /** Of the program to run, where it is not the built one. */
  readonly main: string | undefined;
  readonly timeline: Timeline;
}

/** Times beyond `drainMs` that the end of a process may take on a busy machine. */
const EXIT_SLACK_MS = 2_000;
/** A start ends after some seconds without Redis, and several outages may follow each other. */
const START_TRIES = 20;
/** Of the log of a process that did not do what it should. */
const TOLD_LINES = 6;
const TOLD_CHARACTERS = 400;

export class ChaosNode implements AsyncDisposable {
  readonly id: string;
  readonly links: { readonly redis: TcpProxy; readonly database: TcpProxy; readonly clients: TcpProxy };
  readonly time: FakedTime;
  /** Whether a message that Redis publishes to this node is lost now. */
  isLost: () => boolean = () => false;
  readonly #messages: LossyProxy;
  readonly #settings: NodeSettings;
  #process: SignalboxProcess | undefined;
  /** The process whose end the test has asked for. */
  #ending: SignalboxProcess | undefined;

  private constructor(settings: NodeSettings, links: ChaosNode['links'], messages: LossyProxy, time: FakedTime) {
    this.id = settings.id;
    this.links = links;
    this.time = time;
    this.#messages = messages;
    this.#settings = settings;
  }

  static async start(settings: NodeSettings): Promise<ChaosNode> {
    const database = new URL(settings.databaseUrl);
    const messages = await startLossyProxy(settings.store.port ?? 0, () => node.isLost());
    const links = {
      redis: await startProxy(messages.port),
      database: await startProxy(Number(database.port)),
      clients: await startProxy(await freePort()),
    };
    const node: ChaosNode = new ChaosNode(settings, links, messages, await fakedTime());
    await node.start();
    return node;
  }

  get process(): SignalboxProcess {
    if (this.#process === undefined) throw new Error(`${this.id} has not started`);
    return this.#process;
  }

  get isRunning(): boolean {
    return this.#process?.child.running === true;
  }

  /** Starts it, or starts it again. Where its stores cannot be reached yet, it is tried again. */
  async start(): Promise<void> {
    const { id, options, store, databaseUrl, main, timeline } = this.#settings;
    const database = new URL(databaseUrl);
    database.port = String(this.links.database.port);
    const redisUrl = store.port === undefined ? store.url : `redis://127.0.0.1:${this.links.redis.port}`;
    const given = { ...options, nodeId: id, redisUrl, databaseUrl: database.href };
    const started = await this.#launch(() => startSignalbox(given, this.time.env, main));
    this.#process = started;
    this.links.clients.turnTo(started.port);
    void started.child.exited.then(({ code, signal }) => {
      if (this.#ending !== started) timeline.exited(id, `by itself (${signal ?? code})`, false);
    });
  }

  async kill(): Promise<void> {
    this.#ending = this.process;
    await this.process.child.kill();
  }

  /** SIGTERM; it must end without an error within its time for it. */
  async terminate(): Promise<void> {
    const { process } = this;
    const { drainMs = 0 } = this.#settings.options;
    this.#ending = process;
    const began = machineMs();
    process.child.signal('SIGTERM');
    const overdue = setTimeout(() => process.child.signal('SIGKILL'), drainMs + 3 * EXIT_SLACK_MS);
    const { code, signal } = await process.child.exited;
    clearTimeout(overdue);
    const tookMs = Math.round(machineMs() - began);
    const isFine = code === 0 && tookMs < drainMs + EXIT_SLACK_MS;
    this.#settings.timeline.exited(this.id, `asked to, with ${signal ?? code} after ${tookMs} ms`, isFine);
    if (!isFine)
      for (const line of process.child.lines.slice(-TOLD_LINES))
        this.#settings.timeline.tell(line.slice(0, TOLD_CHARACTERS));
  }

  async isReady(): Promise<boolean> {
    if (!this.isRunning) return false;
    try {
      const signal = AbortSignal.timeout(3_000);
      return (await fetch(`${this.process.url}/readyz`, { signal })).ok;
    } catch {
      return false;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#ending = this.#process;
    await this.#process?.child.kill();
    await Promise.all(Object.values(this.links).map((link) => link.close()));
    await this.#messages[Symbol.asyncDispose]();
    await this.time[Symbol.asyncDispose]();
  }

  async #launch(launch: () => Promise<SignalboxProcess>, tries = START_TRIES): Promise<SignalboxProcess> {
    try {
      return await launch();
    } catch (error) {
      if (tries === 1) throw error;
      const [why = '', ...lines] = String(error).split('\n');
      this.#settings.timeline.tell(`${this.id} did not start: ${why}`);
      for (const line of lines.slice(-TOLD_LINES)) this.#settings.timeline.tell(line.slice(0, TOLD_CHARACTERS));
      await new Promise((resolve) => setTimeout(resolve, 1_000));
      return this.#launch(launch, tries - 1);
    }
  }
}
