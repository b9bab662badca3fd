/** What is asked of a connection to Redis: by a client of node-redis, or by one that follows the primary of sentinels. */
import type { createClient } from 'redis';

/** A client of node-redis, which connects to one address. */
export type PlainClient = ReturnType<typeof createClient>;

/** `lost`: one of several masters, or some of its slots; what was subscribed there may not be any more. */
export type ConnectionEvent = 'ready' | 'reconnecting' | 'end' | 'error' | 'lost';

/** The masters of a Cluster, named by host and port. */
export interface ClusterConnections {
  readonly names: readonly string[];
  /** The master of the slot of a key. */
  ownerOf(key: string): string | undefined;
  /** Of one that is connected. */
  client(name: string): PlainClient | undefined;
  /** Asks the nodes which master has which slot. */
  refresh(): void;
}

export type ChannelListener = (message: Buffer, channel: Buffer) => void;
export type TextListener = (message: string, channel: string) => void;
export interface ScriptCall {
  keys: string[];
  arguments: string[];
}

/** Once connected, it connects again after any loss, for ever. Commands are refused while it is not ready. */
export interface RedisClient {
  readonly isOpen: boolean;
  readonly isReady: boolean;
  /** What keeps it from connecting, or would do so after a loss, where more is known than that there is no connection. */
  readonly problem?: string | undefined;
  /** Of a Cluster. Commands are routed by their key. */
  readonly cluster?: ClusterConnections;
  connect(): Promise<unknown>;
  close(): Promise<unknown>;
  destroy(): void;
  on(event: 'error', listener: (error: Error) => void): unknown;
  on(event: ConnectionEvent, listener: () => void): unknown;
  off(event: ConnectionEvent, listener: () => void): unknown;
  sendCommand(args: string[]): Promise<unknown>;
  eval(source: string, call: ScriptCall): Promise<unknown>;
  evalSha(sha: string, call: ScriptCall): Promise<unknown>;
  scriptLoad(source: string): Promise<unknown>;
  info(section: string): Promise<string>;
  configGet(parameter: string): Promise<Record<string, string>>;
  set(key: string, value: string, options: { condition: 'NX'; GET: true }): Promise<string | null>;
  sPublish(channel: string, payload: string | Buffer): Promise<number>;
  pubSubShardNumSub(channels: string[]): Promise<Record<string, number>>;
  pubSubShardChannels(pattern: string): Promise<string[]>;
  sSubscribe(channel: string, listener: ChannelListener, buffers: true): Promise<void>;
  sUnsubscribe(channel: string): Promise<void>;
  /** Of a Cluster, where subscriptions are lost one by one. */
  isSubscribed?(channel: string): boolean;
  /** Kept over losses of the connection. */
  subscribe(channel: string, listener: TextListener): Promise<void>;
  unsubscribe(channel: string, listener: TextListener): Promise<void>;
  getPubSubListeners(type: 'SHARDED'): Map<string, unknown>;
}
