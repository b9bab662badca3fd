/**
 * Rate limit of control frames: packets of the transport such as pongs, pings and pongs of the WebSocket. The token bucket counts only
 * messages, but a flood of control frames keeps the process busy with parsing: ten such connections delayed the requests
 * of others by seconds. A well-behaved client sends one in ten seconds.
 */
import type { Clock } from '../../support/clock.ts';

const MAX_PER_SECOND = 20;

interface WebSocket {
  on(event: 'ping' | 'pong', listener: (this: WebSocket) => void): unknown;
  terminate(): void;
}

/** The part of an Engine.IO connection that is used here. With polling there is no WebSocket. */
export interface EngineConnection {
  readonly transport: { readonly socket?: WebSocket };
  on(event: 'packet', listener: (this: EngineConnection, packet: { readonly type: string }) => void): unknown;
  close(discard: boolean): void;
}

/** Closes a connection without the closing handshake, which a flooding client would not complete. */
export function terminate(connection: EngineConnection): void {
  connection.close(true);
  connection.transport.socket?.terminate();
}

/** @returns a function that watches a connection. All connections share its closures, so watching costs no memory per connection. */
export function createControlFrameLimit(clock: Clock): (connection: EngineConnection) => void {
  /** Control frames in the current second. */
  const counts = new Map<WebSocket | EngineConnection, number>();
  let second = 0;

  const isFlood = (source: WebSocket | EngineConnection): boolean => {
    const now = Math.floor(clock.now() / 1000);
    if (now !== second) counts.clear();
    second = now;
    const count = (counts.get(source) ?? 0) + 1;
    counts.set(source, count);
    return count > MAX_PER_SECOND;
  };

  const onPacket = function (this: EngineConnection, { type }: { readonly type: string }): void {
    if (type !== 'message' && isFlood(this)) terminate(this);
  };
  const onControlFrame = function (this: WebSocket): void {
    if (isFlood(this)) this.terminate();
  };

  return (connection) => {
    connection.on('packet', onPacket);
    connection.transport.socket?.on('ping', onControlFrame);
    connection.transport.socket?.on('pong', onControlFrame);
  };
}
