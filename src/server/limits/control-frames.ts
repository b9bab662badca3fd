/**
 * Frames that are no messages cost no budget: pongs of the transport, pings and pongs of the WebSocket. Written without
 * pause they keep the process parsing: ten such connections left a request of somebody else unanswered for seconds. An
 * honest client sends one in ten seconds.
 */
import type { Clock } from '../../support/clock.ts';

const MOST_PER_SECOND = 20;

interface WebSocket {
  on(event: 'ping' | 'pong', listener: (this: WebSocket) => void): unknown;
  terminate(): void;
}

/** As much of an Engine.IO connection as is needed here. With polling there is no WebSocket. */
export interface Floodable {
  readonly transport: { readonly socket?: WebSocket };
  on(event: 'packet', listener: (this: Floodable, packet: { readonly type: string }) => void): unknown;
  close(discard: boolean): void;
}

/** Ends a connection without waiting for the other side to agree: who floods does not. */
export function cut(connection: Floodable): void {
  connection.close(true);
  connection.transport.socket?.terminate();
}

/** @returns a function that watches one connection; they share everything, so that watching weighs nothing. */
export function createFloodWatch(clock: Clock): (connection: Floodable) => void {
  /** Of the present second. */
  const counts = new Map<WebSocket | Floodable, number>();
  let second = 0;

  const isFlood = (source: WebSocket | Floodable): boolean => {
    const now = Math.floor(clock.now() / 1000);
    if (now !== second) counts.clear();
    second = now;
    const count = (counts.get(source) ?? 0) + 1;
    counts.set(source, count);
    return count > MOST_PER_SECOND;
  };

  const onPacket = function (this: Floodable, { type }: { readonly type: string }): void {
    if (type !== 'message' && isFlood(this)) cut(this);
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
