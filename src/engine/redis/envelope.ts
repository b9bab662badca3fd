/**
 * The first line of every message between nodes: when it was sent, and for a call who wants to know whether it was
 * delivered. Redis delivers what was written to it before it froze when it thaws: only an instant tells the receiver.
 */

/** In the envelope of an event that passes the adapter by. */
export interface Call {
  /** The node that sent it. */
  readonly from: string;
  /** The node waits for the number of deliveries under this number; 0 when it does not wait. */
  readonly number: number;
}

export interface Opened {
  /** Milliseconds since 1970 by the clock of Redis; undefined when the sender did not know that clock. */
  readonly sentAt: number | undefined;
  readonly call: Call | undefined;
  readonly payload: Buffer;
}

const NEWLINE = 10;
/** An instant, the longest node id, a number. */
const MAX_LINE = 128;
const UNKNOWN = '-';

export function seal(payload: string | Buffer, sentAt: number | undefined, call?: Call): string | Buffer {
  const instant = sentAt === undefined ? UNKNOWN : String(Math.floor(sentAt));
  const line = call === undefined ? `${instant}\n` : `${instant} ${call.from} ${call.number}\n`;
  return typeof payload === 'string' ? line + payload : Buffer.concat([Buffer.from(line), payload]);
}

/** @returns undefined when it is no message of a node. */
export function open(message: Buffer): Opened | undefined {
  const end = message.subarray(0, MAX_LINE).indexOf(NEWLINE);
  if (end < 1) return undefined;
  const [instant = '', from, number] = message.toString('latin1', 0, end).split(' ');
  const sentAt = instant === UNKNOWN ? undefined : Number(instant);
  if (Number.isNaN(sentAt)) return undefined;
  const call = from === undefined ? undefined : { from, number: Number(number) };
  return { sentAt, call, payload: message.subarray(end + 1) };
}
