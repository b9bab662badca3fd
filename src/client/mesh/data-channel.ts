/**
 * The data channel of a pair. It was agreed upon beforehand, so it needs no announcement; but a peer that knows nothing
 * of this SDK may have agreed to data channels and not to this one. So both sides greet, and nothing is said to whom
 * has not greeted.
 */
import type { Json } from '../../protocol/index.ts';
import { byteLength } from '../payload-check.ts';

/** Out of the way of channels that a peer opens by itself: those count from 0. */
const ID = 100;
const GREETING = 'signalbox 1';
const MAX_BYTES = 64 * 1024;
/** A peer that reads slowly must not fill our memory. */
const MAX_BUFFERED = 1024 * 1024;

export interface DataChannel {
  /** Whether the other side has greeted, and still hears. */
  isOpen(): boolean;
  /** @returns false when it could not be sent. */
  send(data: Json): boolean;
}

export function openDataChannel(
  connection: RTCPeerConnection,
  changed: () => void,
  heard: (data: Json) => void,
): DataChannel {
  const channel = connection.createDataChannel('signalbox', { negotiated: true, id: ID });
  let isGreeted = false;
  const isOpen = (): boolean => isGreeted && channel.readyState === 'open';
  /** A peer may have agreed to shorter messages than anything that is worth saying. */
  const trySend = (text: string): boolean => {
    try {
      channel.send(text);
      return true;
    } catch {
      return false;
    }
  };
  channel.onopen = () => trySend(GREETING);
  channel.onclose = changed;
  channel.onmessage = ({ data: text }: MessageEvent<string>) => {
    if (isGreeted) hear(text, heard);
    else if (text === GREETING) {
      isGreeted = true;
      changed();
    }
  };
  return {
    isOpen,
    send: (data) => {
      const text = JSON.stringify(data);
      return isOpen() && channel.bufferedAmount <= MAX_BUFFERED && fits(text) && trySend(text);
    },
  };
}

/** It may be anything, binary too. */
function hear(text: string, heard: (data: Json) => void): void {
  try {
    if (fits(text)) heard(JSON.parse(text) as Json);
  } catch {
    // Not JSON.
  }
}

const fits = (text: string): boolean => byteLength(text) <= MAX_BYTES;
