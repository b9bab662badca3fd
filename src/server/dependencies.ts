/** What a server is given beside its options, and the check that nothing in it is misspelt. */
import type { Engine, EngineSettings } from '../engine/engine.ts';
import type { NodeId } from '../protocol/ids.ts';
import type { CallRecords } from '../records/port.ts';
import type { ReferenceGenerator, ReferenceNotice } from '../reference/port.ts';
import type { Clock } from '../support/clock.ts';
import type { Log } from '../support/log.ts';
import type { Random } from '../support/random.ts';
import type { WebhookQueue } from '../webhooks/queue/queue.ts';
import type { Hooks } from './auth/hooks.ts';
import type { EmbedTarget } from './hosting/embed.ts';
import { OptionError, type Options } from './options/options.ts';

/** Everything but the engine and its queue has a default. */
export interface ServerDependencies {
  /**
   * Locks the data directory, before anything in it is read or written.
   *
   * @returns a function that unlocks it after everything else has closed; undefined where there is no such directory.
   */
  readonly lockDataDir?: (options: Options) => Promise<(() => void) | undefined>;
  readonly engine: (settings: EngineSettings) => Engine | Promise<Engine>;
  /** The queue of the webhooks, where the engine keeps its feed. Called only with webhooks to send. */
  readonly webhookQueue: (engine: Engine, clock: Clock) => WebhookQueue | Promise<WebhookQueue>;
  /** Issues the refs of rooms; random ones by default. The server closes it. */
  readonly references?: (
    options: Options,
    onNotice: (notice: ReferenceNotice) => void,
  ) => ReferenceGenerator | undefined | Promise<ReferenceGenerator | undefined>;
  /** Records calls; none by default. The server closes it, before the engine. */
  readonly calls?: (node: RecordingNode) => CallRecords | undefined;
  readonly clock?: Clock;
  readonly random?: Random;
  readonly log?: Log;
  /** Decisions of the program that embeds the server. */
  readonly hooks?: Hooks;
}

/** The parts of a node that call records work with. */
export interface RecordingNode {
  readonly options: Options;
  readonly nodeId: NodeId;
  readonly feed: Engine['feed'];
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
}

const DEPENDENCIES: Readonly<Record<keyof (ServerDependencies & EmbedTarget), true>> = {
  lockDataDir: true,
  engine: true,
  webhookQueue: true,
  references: true,
  calls: true,
  clock: true,
  random: true,
  log: true,
  hooks: true,
  server: true,
  prefix: true,
};

const HOOKS: Readonly<Record<keyof Hooks, true>> = { authenticate: true, onCreate: true, onJoin: true, onEvent: true };

/** @throws OptionError for an unknown name, and for a `prefix` without a `server`. */
export function checkDependencies(given: Partial<ServerDependencies & EmbedTarget>): void {
  for (const name of Object.keys(given)) {
    if (!Object.hasOwn(DEPENDENCIES, name))
      throw new OptionError(name, `no such dependency; there are ${namesOf(DEPENDENCIES)}`);
  }
  if (given.prefix !== undefined && given.server === undefined)
    throw new OptionError('prefix', 'needs the server that it is a prefix in');
}

/**
 * A misspelt hook would never be called, and so would let everybody in.
 *
 * @throws OptionError for an unknown hook, one that is no function, and `onEvent` without a feed.
 */
export function checkHooks(hooks: Hooks, { feedMaxEvents }: Options): void {
  // In JavaScript they may be anything.
  const given: unknown = hooks;
  if (typeof given !== 'object' || given === null) throw new OptionError('hooks', 'must be an object of functions');
  for (const name of Object.keys(given)) {
    if (!Object.hasOwn(HOOKS, name))
      throw new OptionError(`hooks.${name}`, `no such hook; there are ${namesOf(HOOKS)}`);
  }
  for (const name of Object.keys(HOOKS)) {
    const hook: unknown = Reflect.get(given, name);
    if (hook !== undefined && typeof hook !== 'function') throw new OptionError(`hooks.${name}`, 'must be a function');
  }
  if (hooks.onEvent !== undefined && feedMaxEvents === 0)
    throw new OptionError('feedMaxEvents', 'must be more than 0 beside the hook onEvent, which hears of events');
}

const namesOf = (known: object): string => Object.keys(known).join(', ');
