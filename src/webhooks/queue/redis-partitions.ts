/** The partitions of the webhook queue in Redis: their keys, and the scripts that run in them. */
import { composeScript, luaBeside, PRELUDE, type Script } from '../../redis/script.ts';
import type { Runner } from '../../redis/script-runner.ts';
import type { Clock } from '../../support/clock.ts';
import { type EndpointId, UNUSED_TTL_MS } from './queue.ts';

/** The Lua file of each script. */
const FILES = {
  claim: 'claim',
  complete: 'complete',
  stats: 'stats',
  deadLetters: 'dead-letters',
  replay: 'replay',
} as const;

export type QueueScriptName = keyof typeof FILES;
export type QueueScripts = Readonly<Record<QueueScriptName, Script>>;

export function loadQueueScripts(): QueueScripts {
  const readLua = luaBeside(import.meta.url);
  const shared = [PRELUDE, readLua('room-queues')];
  const scripts = Object.entries(FILES).map(([name, file]) => [name, composeScript(readLua(file), shared)]);
  return Object.fromEntries(scripts) as QueueScripts; // one for each of the names
}

/** Key suffixes of an endpoint, in the order in which the scripts declare them. `graves` are the dead letters. */
const KEYS = ['state', 'due', 'heads', 'dead', 'graves'];

export interface PartitionsOptions {
  readonly runner: Runner;
  readonly streams: readonly string[];
  readonly scripts: QueueScripts;
  readonly clock: Pick<Clock, 'now'> | undefined;
}

export class Partitions {
  /** Numbers of the partitions: each is the index of its stream. */
  readonly all: readonly number[];
  readonly #options: PartitionsOptions;
  #first = 0;

  constructor(options: PartitionsOptions) {
    this.#options = options;
    this.all = [...options.streams.keys()];
  }

  /** The numbers, rotated by one more at each call: no partition waits until the others are empty. */
  rotated(): number[] {
    this.#first = (this.#first + 1) % this.all.length;
    return [...this.all.slice(this.#first), ...this.all.slice(0, this.#first)];
  }

  /** Runs a script on an endpoint's queues in a partition. */
  run(name: QueueScriptName, endpoint: EndpointId, partition: number, command: object): Promise<unknown> {
    const { runner, scripts, streams, clock } = this.#options;
    const stream = streams[partition];
    if (stream === undefined) throw new RangeError('no such partition');
    // `{s07}:events` has its queues beside it, in its hash slot: `{s07}:hook:<endpoint>:due`.
    const stem = `${stream.replace(/events$/, 'hook')}:${endpoint}:`;
    const keys = KEYS.map((key) => stem + key);
    if (name === 'claim') keys.push(stream);
    const figures = { roomQueueKey: `${stem}lane:`, unusedTtlMs: UNUSED_TTL_MS, now: clock?.now() };
    return runner.run(scripts[name], keys, [JSON.stringify({ ...command, ...figures })]);
  }

  /** Public id of a room queue: `<partition>:<room queue>`. */
  locator(partition: number, roomQueue: string): string {
    return `${partition}:${roomQueue}`;
  }

  /** @throws RangeError when there is no such partition. */
  locate(locator: string): [partition: number, roomQueue: string] {
    const [, number, roomQueue] = /^(\d+):(.*)$/.exec(locator) ?? [];
    const partition = Number(number);
    if (roomQueue === undefined || !this.all.includes(partition)) throw new RangeError('no such room queue');
    return [partition, roomQueue];
  }
}
