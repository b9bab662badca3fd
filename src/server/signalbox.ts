/** What a server is made with, and what it then is. */
import type { Engine, EngineSettings } from '../engine/engine.ts';
import type { NodeId } from '../protocol/ids.ts';
import type { CallRecords } from '../records/port.ts';
import type { ReferenceGenerator, ReferenceNotice } from '../reference/port.ts';
import type { Clock } from '../support/clock.ts';
import type { Log } from '../support/log.ts';
import type { Random } from '../support/random.ts';
import type { WebhookQueue } from '../webhooks/queue/queue.ts';
import type { Hooks } from './auth/hooks.ts';
import type { EmbeddedServer } from './hosting/embed.ts';
import type { Events } from './monitoring/events.ts';
import type { PoolFigures } from './monitoring/pool-monitor.ts';
import type { Options } from './options/options.ts';

/** What a server is built with. Everything but the engine has a default. */
export interface ServerDependencies {
  /**
   * Takes hold of what no other server may have at the same time, before anything is read or written.
   *
   * @returns how it is given back, when all else has ended.
   */
  readonly lockDataDir?: (options: Options) => Promise<(() => void) | undefined>;
  readonly engine: (settings: EngineSettings) => Engine | Promise<Engine>;
  /** The queue of the webhooks, where the engine keeps its feed. Asked for when there are webhooks. */
  readonly webhookQueue: (engine: Engine, clock: Clock) => WebhookQueue | Promise<WebhookQueue>;
  /** Where rooms get their refs; by chance, unless this gives another. The server closes it. */
  readonly references?: (
    options: Options,
    onNotice: (notice: ReferenceNotice) => void,
  ) => ReferenceGenerator | undefined | Promise<ReferenceGenerator | undefined>;
  /** Where calls are recorded; nowhere, unless this says. The server closes it, while the engine is there still. */
  readonly calls?: (node: RecordingNode) => CallRecords | undefined;
  readonly clock?: Clock;
  readonly random?: Random;
  readonly log?: Log;
  /** What the program around it decides. */
  readonly hooks?: Hooks;
}

export interface RecordingNode {
  readonly options: Options;
  readonly nodeId: NodeId;
  readonly feed: Engine['feed'];
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
}

/** A server, wherever it answers. */
export interface Signalbox {
  readonly nodeId: NodeId;
  readonly options: Options;
  readonly engine: Engine;
  /** What happens on this node. */
  readonly events: Events;
  /** For people: how rooms get their refs. */
  readonly references: string;
  /** For people: where calls are recorded. */
  readonly calls: string;
  pool(): Promise<PoolFigures>;
  /** Asks every client to go elsewhere, then ends everything that was started. */
  close(): Promise<void>;
}

/** One that listens on a port of its own. */
export interface SignalboxServer extends Signalbox {
  /** Where it listens, such as `http://127.0.0.1:3000`. */
  readonly url: string;
  readonly port: number;
}

/** One in a server of somebody else's, who alone knows where that listens. Closing it leaves that server as it was. */
export interface EmbeddedSignalbox extends Signalbox {
  /**
   * Answers a request to one of its paths, whether `prefix` is still before it or a router has taken it away. A Fastify
   * instance has them as routes already.
   *
   * @throws Error when the body has been read: hand requests over before whatever parses bodies.
   */
  readonly handle: EmbeddedServer['handle'];
}
