/**
 * Backpressure limit: closes connections whose clients do not read. Engine.IO buffers unsent packets without bound, and a
 * client that still answers pings never times out, so its peers could fill the memory of the node. What waits behind
 * Engine.IO is counted too: in the WebSocket, and in the write queue of its TCP socket. What the kernel holds cannot be seen.
 */
import type { Clock } from '../../support/clock.ts';
import type { Options } from '../options/options.ts';

/** Below this number of buffered messages their size is not summed up: the frame limit bounds it. */
const MIN_MESSAGES = 8;
/** A connection above the limits is closed only if it still is after this time: a burst is no stalled reader. */
const RECHECK_MS = 1000;
/** A connection above this multiple of the limit of bytes is closed without a second check. */
const HARD_LIMIT_FACTOR = 4;

interface Packet {
  readonly data?: unknown;
}

/** The part of an Engine.IO connection that is used here. */
export interface OutboundConnection {
  readonly writeBuffer: readonly Packet[];
  /** With polling there is no WebSocket. Its `bufferedAmount` includes the `writableLength` of the TCP socket. */
  readonly transport: { readonly socket?: { readonly bufferedAmount: number } };
  on(event: 'packetCreate', listener: (this: OutboundConnection) => void): unknown;
  /** With `discard`, buffered packets are dropped. */
  close(discard: boolean): void;
}

type Bounds = Pick<Options, 'outboundBytes' | 'outboundMessages'>;

/** @returns a function that watches a connection. All connections share its closures, so watching costs no memory per connection. */
export function createBackpressure(bounds: Bounds, clock: Clock): (connection: OutboundConnection) => void {
  const suspects = new WeakSet<OutboundConnection>();

  const check = function (this: OutboundConnection): void {
    if (this.writeBuffer.length < MIN_MESSAGES && writtenBytes(this) <= bounds.outboundBytes) return;
    const bytes = waitingBytes(this);
    if (bytes > bounds.outboundBytes * HARD_LIMIT_FACTOR) this.close(true);
    else if (isOver(this, bytes) && !suspects.has(this)) recheckLater(this);
  };

  const isOver = ({ writeBuffer }: OutboundConnection, bytes: number): boolean =>
    writeBuffer.length > bounds.outboundMessages || bytes > bounds.outboundBytes;

  const recheckLater = (connection: OutboundConnection): void => {
    suspects.add(connection);
    clock.after(RECHECK_MS, () => {
      suspects.delete(connection);
      if (isOver(connection, waitingBytes(connection))) connection.close(true);
    });
  };

  return (connection) => void connection.on('packetCreate', check);
}

/** Those that Engine.IO has handed on and the kernel has not taken. */
const writtenBytes = ({ transport }: OutboundConnection): number => transport.socket?.bufferedAmount ?? 0;

const waitingBytes = (connection: OutboundConnection): number =>
  writtenBytes(connection) + bytesOf(connection.writeBuffer);

const bytesOf = (packets: readonly Packet[]): number =>
  packets.reduce((sum, { data }) => sum + (typeof data === 'string' ? data.length : 0), 0);
