/** Where the state is kept: the interface of every engine, and its laws. */
import type { NodeId, SessionNumber, UserId } from '../protocol/ids.ts';
import type { Command, Outcome } from '../room/commands.ts';
import type { Evicted } from '../room/outcomes.ts';
import type { Pool } from '../room/pool.ts';
import type { Policy } from '../room/room.ts';
import type { StoreHealth } from '../support/store.ts';
import type { Feed } from './feed.ts';

export interface Engine {
  /** For people: `memory`, or `redis` and where. Without credentials. */
  readonly name: string;
  /**
   * Applies one command atomically. A refusal is an outcome; a rejected promise is a fault of the engine.
   *
   * - Commands of one shard, or of one user, take effect one after the other, in some order that all nodes see.
   * - The promise settles within 2 seconds, whatever happens to the store.
   * - After a `StoreUnavailable` the command may or may not have taken effect: the caller reads or repeats.
   *
   * @throws StoreUnavailable when the store does not answer in time.
   */
  apply<C extends Command>(command: C): Promise<Outcome<C>>;
  readonly fanout: Fanout;
  readonly feed: Feed;
  health(): StoreHealth;
  /** The nodes that are connected to the same store now, this one included. */
  nodes(): Promise<readonly NodeId[]>;
  /** The secret that all nodes share: the proposal, when there was none yet. */
  sharedSecret(proposal: string): Promise<string>;
  /** Ends everything the engine has started, within 2 seconds. */
  close(): Promise<void>;
}

/** How events reach the clients of other nodes. None of it is reliable: revisions tell who has missed something. */
export interface Fanout {
  /** The Socket.IO adapter to serve with, or `undefined` for Socket.IO's own. Opaque here: only the gateway knows Socket.IO. */
  readonly adapter: object | undefined;
  /**
   * Resolves when what any node emits to this Socket.IO room reaches this node, which must have a socket in it.
   *
   * @throws StoreUnavailable when that is not so in time.
   */
  live(room: string): Promise<void>;
  /**
   * How many nodes listen to a Socket.IO room. `send` is always called and MUST emit to that room before it returns.
   * Without an adapter of its own the engine knows of no other nodes and answers 0.
   *
   * @throws StoreUnavailable when the emit did not leave this node, or the store does not answer in time.
   */
  receivers(send: () => void): Promise<number>;
  /** Tells one node something; it is lost when the node is away. */
  tell(nodeId: NodeId, notice: Notice): void;
  /** Hears what this node is told. Called once, before the node serves. */
  listen(hear: (notice: Notice) => void): void;
}

/** What one node tells another. The tick and the heartbeat heal the loss of any of them. */
export type Notice =
  /** Sessions of the user before this one are over. */
  | { readonly kind: 'replaced'; readonly userId: UserId; readonly session: SessionNumber }
  /** These sessions have lost their seats. */
  | { readonly kind: 'evicted'; readonly evicted: readonly (Evicted & { readonly banned?: boolean })[] };

/** Begins every key and channel of a shared store, unless an option says otherwise. */
export const DEFAULT_PREFIX = 'sb:';

/** What the server tells the engine that is made for it. */
export interface EngineSettings {
  readonly nodeId: NodeId;
  readonly policy: Policy;
  readonly pool: Pool;
  /** How many events of the feed are kept; 0 writes none. */
  readonly feedMaxEvents: number;
}
