/**
 * Frames that are no messages cost no budget: pongs of the transport, pings and pongs of the WebSocket. Written without
 * pause they keep the process parsing: ten such connections left a request of somebody else unanswered for seconds. An
 * honest client sends one in ten seconds.
 */
import type { Clock } from '../../support/clock.ts';

const MAX_PER_SECOND = 20;

interface WebSocket {
  on(event: 'ping' | 'pong', listener: (this: WebSocket) => void): unknown;
  terminate(): void;
}

/** As much of an Engine.IO connection as is needed here. With polling there is no WebSocket. */
export interface EngineConnection {
  readonly transport: { readonly socket?: WebSocket };
  on(event: 'packet', listener: (this: EngineConnection, packet: { readonly type: string }) => void): unknown;
  close(discard: boolean): void;
}

/** Ends a connection without waiting for the other side to agree: who floods does not. */
export function terminate(connection: EngineConnection): void {
  connection.close(true);
  connection.transport.socket?.terminate();
}

/** @returns a function that watches one connection; they share everything, so that watching weighs nothing. */
export function createControlFrameLimit(clock: Clock): (connection: EngineConnection) => void {
  /** Of the present second. */
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
