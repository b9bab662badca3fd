/**
 * The Socket.IO parser with a guard before it. Stock, a 10 KB frame of 5,000 nested brackets ends the process: it is
 * parsed, and the recursion that looks for binary data in it overflows the stack. Here nothing nested deeper than the
 * protocol allows is ever parsed, and nothing binary is taken. What is refused still reaches the gateway, with the id
 * of its acknowledgement, so that its sender gets a typed error.
 */
import { Decoder, Encoder, type Packet, PacketType } from 'socket.io-parser';
import { ENVELOPE_DEPTH, LIMITS } from '../../protocol/limits.ts';
import { readRawSignal } from './fast-relay.ts';

/** Stands in the place of an event's name. */
export class RefusedPacket {
  readonly reason: string;
  constructor(reason: string) {
    this.reason = reason;
  }
}

const MAX_DEPTH = LIMITS.depth + ENVELOPE_DEPTH;
/** `<type>[<attachments>-][/<namespace>,][<id>]` */
const HEADER = /^([0-6])(?:(\d+)-)?(?:(\/[^,]*),)?(\d{0,15})/;
/** There is one namespace. Whoever goes on asking for others is shown out. */
const MAX_CONNECTS = 5;
const MAX_ATTACHMENTS = 10;

/** One for each connection. What it throws ends that connection. */
class GuardedDecoder extends Decoder {
  private connects = 0;
  private connected = false;
  /** Frames still to come that belong to a refused binary event. */
  private attachments = 0;

  override add(chunk: unknown): void {
    if (typeof chunk !== 'string') {
      this.dropAttachment();
      return;
    }
    const type = chunk.charCodeAt(0) - ZERO;
    if (type === PacketType.CONNECT) this.admitConnect(chunk);
    // The server never asks a client for an acknowledgement, and these would count against no budget.
    if (type === PacketType.ACK || type === PacketType.BINARY_ACK) throw new Error('nobody has asked for this');
    const reason = whyRefused(type, chunk);
    if (reason !== undefined) this.refuse(chunk, reason);
    else if (!this.addSignal(chunk)) super.add(chunk);
  }

  private addSignal(chunk: string): boolean {
    const read = readRawSignal(chunk);
    if (read !== undefined) this.emitEvent(['signal', read.signal], read.id);
    return read !== undefined;
  }

  private refuse(chunk: string, reason: string): void {
    const [, type, attachments = '0', namespace = '/', id = ''] = HEADER.exec(chunk) ?? [];
    if (type !== String(PacketType.EVENT) && type !== String(PacketType.BINARY_EVENT)) throw new Error(reason);
    this.attachments = Math.min(Number(attachments), MAX_ATTACHMENTS);
    this.emitEvent([new RefusedPacket(reason)], id, namespace);
  }

  private emitEvent(data: unknown[], id: string, nsp = '/'): void {
    this.emitReserved('decoded', { type: PacketType.EVENT, nsp, data, ...(id !== '' && { id: Number(id) }) });
  }

  private dropAttachment(): void {
    if (this.attachments === 0) throw new Error('binary data that belongs to nothing');
    this.attachments -= 1;
  }

  /** Socket.IO opens a session for every CONNECT that comes before the first is admitted, or after a DISCONNECT. */
  private admitConnect(chunk: string): void {
    this.connects += 1;
    const isMain = !/^0\/[^,]/.test(chunk);
    if (this.connects > MAX_CONNECTS || (isMain && this.connected)) throw new Error('connected already');
    this.connected ||= isMain;
  }
}

/** Nothing binary is sent either. Stock, every packet is searched for it before it is written. */
class TextEncoder extends Encoder {
  override encode({ type, nsp, id, data }: Packet): string[] {
    const namespace = nsp === '/' ? '' : `${nsp},`;
    return [`${type}${namespace}${id ?? ''}${data === undefined ? '' : JSON.stringify(data)}`];
  }
}

export const guardedParser = { Encoder: TextEncoder, Decoder: GuardedDecoder };

function whyRefused(type: number, text: string): string | undefined {
  if (type === PacketType.BINARY_EVENT) return 'Binary data is not taken.';
  return isDeeperThan(MAX_DEPTH, text) ? `Nested deeper than ${LIMITS.depth}.` : undefined;
}

const ZERO = 48;
const QUOTE = 34;
const BACKSLASH = 92;
const OPENING_BRACKET = 91;
const CLOSING_BRACKET = 93;
const OPENING_BRACE = 123;
const CLOSING_BRACE = 125;

/** Whether JSON text nests deeper than `most`. Looks at characters only, so its cost is bounded by the frame's size. */
export function isDeeperThan(most: number, text: string): boolean {
  // Nothing nests deeper than it has openings: most frames are let through by two quick searches.
  if (!hasMoreOpeningsThan(most, text)) return false;
  let depth = 0;
  for (let at = 0; at < text.length; at += 1) {
    const character = text.charCodeAt(at);
    if (character === QUOTE) at = endOfString(text, at);
    else if (character === OPENING_BRACKET || character === OPENING_BRACE) {
      depth += 1;
      if (depth > most) return true;
    } else if (character === CLOSING_BRACKET || character === CLOSING_BRACE) depth -= 1;
  }
  return false;
}

function hasMoreOpeningsThan(most: number, text: string): boolean {
  let openings = 0;
  for (const opening of ['{', '[']) {
    for (let at = text.indexOf(opening); at !== -1; at = text.indexOf(opening, at + 1)) {
      openings += 1;
      if (openings > most) return true;
    }
  }
  return false;
}

/** The index of the quote that ends the string which begins at `start`. */
function endOfString(text: string, start: number): number {
  let at = start + 1;
  while (at < text.length && text.charCodeAt(at) !== QUOTE) at += text.charCodeAt(at) === BACKSLASH ? 2 : 1;
  return at;
}
