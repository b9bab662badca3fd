/**
 * Whoever does not read is closed. Engine.IO keeps what cannot be written yet, without bound, and a client that goes on
 * answering pings is never found dead: its peers would fill the memory of the node at the speed of their budgets.
 */
import type { Clock } from '../../support/clock.ts';
import type { Options } from '../options/options.ts';

/** Below this many waiting messages, no frame limit lets them weigh too much: nothing is added up. */
const MIN_MESSAGES = 8;
/** A burst that is over the bounds for a moment is no stalled reader: it is looked at again after this. */
const RECHECK_MS = 1000;
/** So many times over the bound of bytes, and nobody waits. */
const HARD_LIMIT_FACTOR = 4;

interface Packet {
  readonly data?: unknown;
}

/** As much of an Engine.IO connection as is needed here. */
export interface OutboundConnection {
  readonly writeBuffer: readonly Packet[];
  on(event: 'packetCreate', listener: (this: OutboundConnection) => void): unknown;
  /** With `discard`, without waiting for what has not been written. */
  close(discard: boolean): void;
}

type Bounds = Pick<Options, 'outboundBytes' | 'outboundMessages'>;

/** @returns a function that watches one connection; they share everything, so that watching weighs nothing. */
export function createBackpressure(bounds: Bounds, clock: Clock): (connection: OutboundConnection) => void {
  const doubted = new WeakSet<OutboundConnection>();

  const look = function (this: OutboundConnection): void {
    if (this.writeBuffer.length < MIN_MESSAGES) return;
    const bytes = bytesOf(this.writeBuffer);
    if (bytes > bounds.outboundBytes * HARD_LIMIT_FACTOR) this.close(true);
    else if (isOver(this, bytes) && !doubted.has(this)) lookAgain(this);
  };

  const isOver = ({ writeBuffer }: OutboundConnection, bytes: number): boolean =>
    writeBuffer.length > bounds.outboundMessages || bytes > bounds.outboundBytes;

  const lookAgain = (connection: OutboundConnection): void => {
    doubted.add(connection);
    clock.after(RECHECK_MS, () => {
      doubted.delete(connection);
      if (isOver(connection, bytesOf(connection.writeBuffer))) connection.close(true);
    });
  };

  return (connection) => void connection.on('packetCreate', look);
}

const bytesOf = (packets: readonly Packet[]): number =>
  packets.reduce((sum, { data }) => sum + (typeof data === 'string' ? data.length : 0), 0);
