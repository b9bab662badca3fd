/**
 * The data channel of a pair. It was agreed upon beforehand, so it needs no announcement; but a peer that knows nothing
 * of this SDK may have agreed to data channels and not to this one. So both sides greet, and nothing is said to whom
 * has not greeted.
 */
import type { Json } from '../../protocol/index.ts';

/** Out of the way of channels that a peer opens by itself: those count from 0. */
const ID = 100;
const GREETING = 'signalbox 1';
const MOST_BYTES = 64 * 1024;
/** A peer that reads slowly must not fill our memory. */
const MOST_BUFFERED = 1024 * 1024;

export class Line {
  readonly #channel: RTCDataChannel;
  #isGreeted = false;

  constructor(connection: RTCPeerConnection, changed: () => void, heard: (data: Json) => void) {
    const channel = connection.createDataChannel('signalbox', { negotiated: true, id: ID });
    this.#channel = channel;
    channel.onopen = () => channel.send(GREETING);
    channel.onclose = changed;
    channel.onmessage = ({ data: text }: MessageEvent<string>) => {
      if (this.#isGreeted) hear(text, heard);
      else if (text === GREETING) {
        this.#isGreeted = true;
        changed();
      }
    };
  }

  get isOpen(): boolean {
    return this.#isGreeted && this.#channel.readyState === 'open';
  }

  send(data: Json): boolean {
    const text = JSON.stringify(data);
    if (!this.isOpen || this.#channel.bufferedAmount > MOST_BUFFERED || !fits(text)) return false;
    this.#channel.send(text);
    return true;
  }
}

/** It may be anything, binary too. */
function hear(text: string, heard: (data: Json) => void): void {
  try {
    if (fits(text)) heard(JSON.parse(text) as Json);
  } catch {
    // Not JSON.
  }
}

const fits = (text: string): boolean => new TextEncoder().encode(text).length <= MOST_BYTES;
