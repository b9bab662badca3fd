/** What a started server is, for the program that started it. */
import type { Engine } from '../engine/engine.ts';
import type { NodeId } from '../protocol/ids.ts';
import type { EmbeddedServer } from './hosting/embed.ts';
import type { Events } from './monitoring/events.ts';
import type { PoolFigures } from './monitoring/pool-monitor.ts';
import type { Options } from './options/options.ts';

/** How a server closes. */
export interface CloseOptions {
  /**
   * Whether `/readyz` fails for `drainReadyMs` first, while requests are still served, so that a load balancer notices.
   * False by default: it is for a signal that ends a node behind one, as `signalbox serve` does on SIGTERM.
   */
  readonly waitForBalancers?: boolean;
}

/** A server, on a port of its own or embedded. */
export interface Signalbox {
  readonly nodeId: NodeId;
  readonly options: Options;
  readonly engine: Engine;
  /** The events of this node. */
  readonly events: Events;
  /** For people: how rooms get their refs. */
  readonly references: string;
  /** For people: where calls are recorded. */
  readonly calls: string;
  pool(): Promise<PoolFigures>;
  /** Drains: asks every client to reconnect elsewhere; then ends everything that was started. */
  close(how?: CloseOptions): Promise<void>;
}

/** A server that listens on a port of its own. */
export interface SignalboxServer extends Signalbox {
  /** Where it listens, such as `http://127.0.0.1:3000`. */
  readonly url: string;
  readonly port: number;
}

/** A server inside another HTTP server, which alone knows where it listens. Closing it leaves that server as it was. */
export interface EmbeddedSignalbox extends Signalbox {
  /**
   * Answers a request to one of its paths, with or without the `prefix`. A Fastify instance has them as routes already.
   *
   * @throws Error when the body has been read: hand requests over before they are parsed.
   */
  readonly handle: EmbeddedServer['handle'];
}
