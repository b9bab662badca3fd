/**
 * A message as one WebSocket frame in one buffer. Stock, the head of the frame and its text are two chunks, which take
 * the longer way through the stream and a `writev`: with one chunk, handing on a candidate of 150 bytes and
 * acknowledging it cost 17 µs of processor time instead of 20, and an offer of 1.5 KB 27 instead of 30.
 */
import type { Socket } from '../sessions/socket-types.ts';

/** An outgoing packet of Engine.IO. Its transport sends the frame of the options, where there is one. */
interface OutgoingPacket {
  readonly type: string;
  readonly data?: unknown;
  readonly options: { wsPreEncodedFrame?: readonly Buffer[] };
}

export function sendAsSingleFrame({ conn }: Socket): void {
  conn.on('packetCreate', addFrame);
}

/** One for all connections: a function for each would weigh on every idle one. */
function addFrame({ type, data, options }: OutgoingPacket): void {
  // A broadcast is framed already, once for all its receivers.
  if (type !== 'message' || typeof data !== 'string' || options.wsPreEncodedFrame !== undefined) return;
  const frame = frameOf(data);
  if (frame !== undefined) options.wsPreEncodedFrame = [frame];
}

const FINAL_TEXT = 0x81;
const LENGTH_IN_TWO_BYTES = 126;
const ENGINE_MESSAGE = 0x34; // '4'

/** @returns `undefined` when the text is too long for the two shorter kinds of head: the WebSocket frames it itself. */
export function frameOf(text: string): Buffer | undefined {
  const length = Buffer.byteLength(text) + 1;
  if (length > 0xffff) return undefined;
  const head = length < LENGTH_IN_TWO_BYTES ? 2 : 4;
  const frame = Buffer.allocUnsafe(head + length);
  frame[0] = FINAL_TEXT;
  if (head === 2) frame[1] = length;
  else {
    frame[1] = LENGTH_IN_TWO_BYTES;
    frame.writeUInt16BE(length, 2);
  }
  frame[head] = ENGINE_MESSAGE;
  frame.write(text, head + 1);
  return frame;
}
