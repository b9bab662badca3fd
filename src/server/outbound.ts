/**
 * Whoever does not read is closed. Engine.IO keeps what cannot be written yet, without bound, and a client that goes on
 * answering pings is never found dead: its peers would fill the memory of the node at the speed of their budgets.
 */
import type { Options } from './options.ts';

/** Below this many waiting messages, no frame limit lets them weigh too much: nothing is added up. */
const FEW = 8;

interface Packet {
  readonly data?: unknown;
}

/** As much of an Engine.IO connection as is needed here. */
export interface Connection {
  readonly writeBuffer: readonly Packet[];
  on(event: 'packetCreate', listener: () => void): unknown;
  close(discard: boolean): void;
}

type Bounds = Pick<Options, 'outboundBytes' | 'outboundMessages'>;

export function watchOutbound(connection: Connection, bounds: Bounds): void {
  connection.on('packetCreate', () => {
    const { writeBuffer } = connection;
    if (writeBuffer.length < FEW) return;
    // What waits is thrown away: to close in order, it would have to be read first.
    if (writeBuffer.length > bounds.outboundMessages || bytesOf(writeBuffer) > bounds.outboundBytes)
      connection.close(true);
  });
}

const bytesOf = (packets: readonly Packet[]): number =>
  packets.reduce((sum, { data }) => sum + (typeof data === 'string' ? data.length : 0), 0);
