/** An engine keeps the state of rooms and users: the interface, and the laws that every engine obeys. */
import type { NodeId, SessionNumber, UserId } from '../protocol/ids.ts';
import type { Command, Outcome } from '../room/commands.ts';
import type { Evicted } from '../room/outcomes.ts';
import type { Pool } from '../room/pool.ts';
import type { Policy } from '../room/room.ts';
import type { StoreHealth } from '../support/store.ts';
import type { Feed } from './feed.ts';

export interface Engine {
  /** For logs: `memory`, or `redis at` an address without credentials. */
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
  /**
   * Sets who is told when a command shows that this node has not yet restored what it holds in a shard: it should tick that
   * shard at once. Called once, before the node serves.
   */
  onBehind(listener: (shard: number) => void): void;
  readonly fanout: Fanout;
  readonly feed: Feed;
  health(): StoreHealth;
  /** The nodes that are connected to the same store now, this one included. */
  nodes(): Promise<readonly NodeId[]>;
  /** The secret that all nodes share. It is the proposal of the first node that asked. */
  sharedSecret(proposal: string): Promise<string>;
  /** Ends everything the engine has started, within 2 seconds. */
  close(): Promise<void>;
}

/** Another node that is running has the name of this one. */
export class NodeIdTaken extends Error {
  override readonly name = 'NodeIdTaken';

  constructor(nodeId: string) {
    super(
      `another node named "${nodeId}" is running on the same Redis: set nodeId so that every node has one of its own, ` +
        'or leave it out for a random one',
    );
  }
}

/** Reaches the clients of other nodes. Not reliable: a client notices a missed event by its revision. */
export interface Fanout {
  /** The Socket.IO adapter, `undefined` for Socket.IO's own. Opaque here: only the gateway knows Socket.IO. */
  readonly adapter: object | undefined;
  /**
   * Whether an emit to that Socket.IO room would leave this node now. Not the same as the health: Redis publishes also while
   * it refuses to write, as without memory (OOM) or without enough replicas (NOREPLICAS), and what only passes through need
   * not stop then.
   */
  isUp(room: string): boolean;
  /**
   * Resolves once emits of any node to this Socket.IO room reach this node, which must have a socket in the room.
   *
   * @throws StoreUnavailable when they do not in time.
   */
  live(room: string): Promise<void>;
  /**
   * Sends an event to one Socket.IO room. Resolves with the number of connections that it was written to, as their nodes say:
   * a node that is cut off says nothing. Undefined when no other node listens: none has a connection in that room, or those
   * that have one are just connecting to the store again.
   *
   * @throws StoreUnavailable when it did not leave this node, or no node has answered in time: it may have been delivered.
   */
  deliver(room: string, event: string): Promise<number | undefined>;
  /**
   * Sends an event to one Socket.IO room at all other nodes; `undefined` where there are none. Resolves once it is on its way.
   *
   * @throws StoreUnavailable when it is not in time. What leaves later is dropped by the nodes that receive it.
   */
  broadcast(room: string, event: string): Promise<void> | undefined;
  /** Sets the receiver of such events. Called once, before the node serves. */
  onEvent(receivers: EventReceivers): void;
  /** The message is lost when that node is not connected. */
  send(nodeId: NodeId, message: NodeMessage): void;
  /** Tells the other nodes at which addresses this one answers over HTTP. To be repeated: whoever falls silent has ended. */
  announce(addresses: readonly string[]): void;
  /** The addresses of the other nodes, as they were when the store was last reached. */
  peers(): readonly string[];
  /** A node that claims this node's name from now on waits for its end, instead of being refused. */
  leave(withinMs: number): void;
  /** Sets the receiver of this node's messages. Called once, before the node serves. */
  onMessage(receive: (message: NodeMessage) => void): void;
}

export interface EventReceivers {
  /** Gives an event to each connection of a Socket.IO room of this node. @returns how many it was written to. */
  deliver(room: string, event: string): number;
  /** The same, without the number. */
  broadcast(room: string, event: string): void;
}

/** A message from one node to another. Any may be lost: the tick repairs it. */
export type NodeMessage =
  /** Earlier sessions of the user than this one have ended. */
  | { readonly kind: 'replaced'; readonly userId: UserId; readonly session: SessionNumber }
  /** These sessions have lost their seats. */
  | { readonly kind: 'evicted'; readonly evicted: readonly (Evicted & { readonly banned?: boolean })[] };

/** The default of the prefix of all keys and channels in a shared store. */
export const DEFAULT_PREFIX = 'sb:';

/** The settings that a server makes its engine with. */
export interface EngineSettings {
  readonly nodeId: NodeId;
  readonly policy: Policy;
  readonly pool: Pool;
  /** How many events of the feed are kept; 0 writes none. */
  readonly feedMaxEvents: number;
}
