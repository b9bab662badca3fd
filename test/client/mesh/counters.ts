/**
 * Counts the open connections, timers and track listeners of a page, and controls the speed of its timers, by replacing
 * the browser's functions. To be imported before any other module that uses them.
 */

const realSetTimeout = globalThis.setTimeout.bind(globalThis);
const realClearTimeout = globalThis.clearTimeout.bind(globalThis);

/** Not counted, and at normal speed. */
export const later = (ms: number): Promise<void> => new Promise((resolve) => realSetTimeout(resolve, ms));

const open = new Set<CountedConnection>();
const timers = new Set<number>();
let made = 0;
let trackListeners = 0;
let speed = 1;

/** Makes the timers of the page so many times as fast. */
export function speedUpTimers(times: number): void {
  speed = times;
}

export interface Counted {
  readonly connections: number;
  readonly timers: number;
  readonly trackListeners: number;
}

export const counted = (): Counted => ({ connections: open.size, timers: timers.size, trackListeners });

/** Connections since the start, closed ones included. */
export const connectionsMade = (): number => made;

/** The open connections, in the order of their creation. */
export const connections = (): CountedConnection[] => [...open];

export class CountedConnection extends RTCPeerConnection {
  channel: RTCDataChannel | undefined;

  constructor(configuration?: RTCConfiguration) {
    super(configuration);
    made += 1;
    open.add(this);
  }

  override createDataChannel(label: string, options?: RTCDataChannelInit): RTCDataChannel {
    this.channel = super.createDataChannel(label, options);
    return this.channel;
  }

  override close(): void {
    open.delete(this);
    super.close();
  }
}

Object.assign(globalThis, {
  RTCPeerConnection: CountedConnection,
  setTimeout: (act: () => void, ms = 0) => {
    const timer = realSetTimeout(() => {
      timers.delete(timer);
      act();
    }, ms / speed) as unknown as number; // browsers number them
    timers.add(timer);
    return timer;
  },
  clearTimeout: (timer?: number) => {
    if (timer !== undefined) timers.delete(timer);
    realClearTimeout(timer);
  },
});

Object.assign(MediaStreamTrack.prototype, {
  addEventListener(this: MediaStreamTrack, ...args: Parameters<EventTarget['addEventListener']>) {
    trackListeners += 1;
    EventTarget.prototype.addEventListener.apply(this, args);
  },
  removeEventListener(this: MediaStreamTrack, ...args: Parameters<EventTarget['removeEventListener']>) {
    trackListeners -= 1;
    EventTarget.prototype.removeEventListener.apply(this, args);
  },
});
