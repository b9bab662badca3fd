/**
 * The data channel of a connection, pre-negotiated with a fixed id. A peer without this SDK may support data channels, but
 * not this one: both sides send a greeting, and no data before the other side's greeting has arrived.
 */
import type { Json } from '../../protocol/index.ts';
import { byteLength } from '../payload-check.ts';

/** Far from the ids of other channels, which count from 0. */
const ID = 100;
const GREETING = 'signalbox 1';
const MAX_BYTES = 64 * 1024;
/** Bounds the send buffer for a slow peer, in bytes. */
const MAX_BUFFERED_BYTES = 1024 * 1024;

export interface DataChannel {
  /** Whether the other side has sent its greeting, and the channel is still open. */
  isOpen(): boolean;
  /** @returns false when it could not be sent. */
  send(data: Json): boolean;
}

export function openDataChannel(
  rtc: RTCPeerConnection,
  onChange: () => void,
  onData: (data: Json) => void,
): DataChannel {
  const channel = rtc.createDataChannel('signalbox', { negotiated: true, id: ID });
  let isGreeted = false;
  const isOpen = (): boolean => isGreeted && channel.readyState === 'open';
  /** `send` throws when the peer has negotiated a smaller maximum message size. */
  const trySend = (text: string): boolean => {
    try {
      channel.send(text);
      return true;
    } catch {
      return false;
    }
  };
  channel.onopen = () => trySend(GREETING);
  channel.onclose = onChange;
  channel.onmessage = ({ data: text }: MessageEvent<string>) => {
    if (isGreeted) receive(text, onData);
    else if (text === GREETING) {
      isGreeted = true;
      onChange();
    }
  };
  return {
    isOpen,
    send: (data) => {
      const text = JSON.stringify(data);
      return isOpen() && channel.bufferedAmount <= MAX_BUFFERED_BYTES && fits(text) && trySend(text);
    },
  };
}

/** @param text anything that a peer may send, also binary */
function receive(text: string, onData: (data: Json) => void): void {
  try {
    if (fits(text)) onData(JSON.parse(text) as Json);
  } catch {
    // Not JSON.
  }
}

const fits = (text: string): boolean => byteLength(text) <= MAX_BYTES;
