/**
 * Backpressure limit: closes connections whose clients do not read. Engine.IO buffers unsent packets without bound, and a
 * client that still answers pings never times out, so its peers could fill the memory of the node.
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
  on(event: 'packetCreate', listener: (this: OutboundConnection) => void): unknown;
  /** With `discard`, buffered packets are dropped. */
  close(discard: boolean): void;
}

type Bounds = Pick<Options, 'outboundBytes' | 'outboundMessages'>;

/** @returns a function that watches a connection. All connections share its closures, so watching costs no memory per connection. */
export function createBackpressure(bounds: Bounds, clock: Clock): (connection: OutboundConnection) => void {
  const suspects = new WeakSet<OutboundConnection>();

  const check = function (this: OutboundConnection): void {
    if (this.writeBuffer.length < MIN_MESSAGES) return;
    const bytes = bytesOf(this.writeBuffer);
    if (bytes > bounds.outboundBytes * HARD_LIMIT_FACTOR) this.close(true);
    else if (isOver(this, bytes) && !suspects.has(this)) recheckLater(this);
  };

  const isOver = ({ writeBuffer }: OutboundConnection, bytes: number): boolean =>
    writeBuffer.length > bounds.outboundMessages || bytes > bounds.outboundBytes;

  const recheckLater = (connection: OutboundConnection): void => {
    suspects.add(connection);
    clock.after(RECHECK_MS, () => {
      suspects.delete(connection);
      if (isOver(connection, bytesOf(connection.writeBuffer))) connection.close(true);
    });
  };

  return (connection) => void connection.on('packetCreate', check);
}

const bytesOf = (packets: readonly Packet[]): number =>
  packets.reduce((sum, { data }) => sum + (typeof data === 'string' ? data.length : 0), 0);
