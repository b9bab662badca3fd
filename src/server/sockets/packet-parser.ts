/**
 * Socket.IO's parser with a guard in front of it. Stock, a 10 KB frame of 5,000 nested brackets ends the process: it is
 * parsed, and the recursive search for binary data in it overflows the stack. Here JSON that is nested deeper or has more
 * values than the protocol allows is not parsed, and binary data is refused. A refused event reaches the gateway with its
 * acknowledgement id, so that its sender gets a typed error. Opaque data stays the text that came.
 */
import { Decoder, Encoder, isPacketValid, type Packet, PacketType } from 'socket.io-parser';
import { whyOutOfBounds } from '../json/bounds.ts';
import { parseEvent } from '../json/json-text.ts';
import { frameTokens } from '../limits/prices.ts';
import { EVENT_AS_TEXT } from '../sessions/socket-types.ts';
import { readRawSignal } from './fast-relay.ts';

/** Takes the place of the event's name in a refused packet. */
export class RefusedPacket {
  readonly reason: string;
  constructor(reason: string) {
    this.reason = reason;
  }
}

/**
 * Comes before a large event, in a packet of its own: Socket.IO hands on the content of a frame, and not its length, which
 * is what reading it has cost.
 */
export class LargeFrame {
  readonly tokens: number;
  constructor(tokens: number) {
    this.tokens = tokens;
  }
}

/** `["event",{data}]`: two levels around `data`; the array and the name beside the payload. */
const ENVELOPE = { depth: 2, values: 2 };
/** `<type>[<attachments>-][/<namespace>,][<id>]` */
const HEADER = /^([0-6])(?:(\d+)-)?(?:(\/[^,]*),)?(\d*)/;
/** CONNECT packets of one connection. There is one namespace: a client that goes on asking for others is disconnected. */
const MAX_CONNECTS = 5;
const MAX_ATTACHMENTS = 10;

/** One per connection. An exception closes the connection. */
class GuardedDecoder extends Decoder {
  private connects = 0;
  private connected = false;
  /** Binary frames still to come that belong to a refused event: they are dropped. */
  private attachments = 0;

  override add(chunk: unknown): void {
    if (typeof chunk !== 'string') {
      this.dropAttachment();
      return;
    }
    const type = chunk.charCodeAt(0) - ZERO;
    if (type === PacketType.CONNECT) this.admitConnect(chunk);
    // The server asks for no acknowledgements, and these packets would take no token of the bucket.
    if (type === PacketType.ACK || type === PacketType.BINARY_ACK)
      throw new Error('an acknowledgement that was not asked for');
    // Events only: Socket.IO closes a connection with an event before its CONNECT, without saying why.
    const tokens = isEvent(type) ? frameTokens(chunk) : 0;
    if (tokens > 0) this.emitEvent([new LargeFrame(tokens)], '');
    const reason = whyRefused(type, chunk);
    if (reason !== undefined) this.refuse(chunk, reason);
    else if (type === PacketType.EVENT) this.addEvent(chunk);
    else super.add(chunk);
  }

  private addEvent(frame: string): void {
    const raw = readRawSignal(frame);
    if (raw !== undefined) {
      this.emitEvent(['signal', raw.signal], raw.id);
      return;
    }
    const [head = '', , , nsp = '/', id = ''] = HEADER.exec(frame) ?? [];
    const data = parseEvent(frame.slice(head.length));
    if (!isPacketValid({ type: PacketType.EVENT, nsp, data })) throw new Error('not an event');
    this.emitEvent(data, id, nsp);
  }

  private refuse(chunk: string, reason: string): void {
    const [, type, attachments = '0', namespace = '/', id = ''] = HEADER.exec(chunk) ?? [];
    if (type === String(PacketType.CONNECT)) {
      // The gateway refuses this `auth` with a typed error, like every other that it does not understand.
      this.emitReserved('decoded', { type: PacketType.CONNECT, nsp: namespace, data: { outOfBounds: reason } });
      return;
    }
    if (!isEvent(Number(type))) throw new Error(reason);
    this.attachments = Math.min(Number(attachments), MAX_ATTACHMENTS);
    this.emitEvent([new RefusedPacket(reason)], id, namespace);
  }

  private emitEvent(data: unknown, id: string, nsp = '/'): void {
    this.emitReserved('decoded', { type: PacketType.EVENT, nsp, data, ...(id !== '' && { id: idOf(id) }) });
  }

  private dropAttachment(): void {
    if (this.attachments === 0) throw new Error('binary data without an event');
    this.attachments -= 1;
  }

  /** Socket.IO would open one more socket for a CONNECT that comes before the first is admitted, or after a DISCONNECT. */
  private admitConnect(chunk: string): void {
    this.connects += 1;
    const isMain = !/^0\/[^,]/.test(chunk);
    if (this.connects > MAX_CONNECTS || (isMain && this.connected)) throw new Error('connected already');
    this.connected ||= isMain;
  }
}

/** The server sends nothing binary; the stock encoder searches every packet for it. */
class TextEncoder extends Encoder {
  override encode({ type, nsp, id, data }: Packet): string[] {
    const namespace = nsp === '/' ? '' : `${nsp},`;
    return [`${type}${namespace}${id ?? ''}${data === undefined ? '' : textOf(data)}`];
  }
}

/** A client receives the event that is written in `text`, never an event of that name. */
const textOf = (data: unknown): string =>
  Array.isArray(data) && data[0] === EVENT_AS_TEXT ? String(data[1]) : JSON.stringify(data);

export const guardedParser = { Encoder: TextEncoder, Decoder: GuardedDecoder };

function whyRefused(type: number, text: string): string | undefined {
  if (type === PacketType.BINARY_EVENT) return 'Binary data is not taken.';
  return whyOutOfBounds(text, ENVELOPE);
}

const isEvent = (type: number): boolean => type === PacketType.EVENT || type === PacketType.BINARY_EVENT;

/** An id that a number would round is echoed as its digits: Socket.IO only writes it into the acknowledgement. */
function idOf(digits: string): number {
  const number = Number(digits);
  return Number.isSafeInteger(number) ? number : (digits as unknown as number);
}

const ZERO = 48;
