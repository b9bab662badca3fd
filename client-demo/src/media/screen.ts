/** Our own screen, while we share it. The browser has a "stop sharing" of its own, so it may end without us. */
import { Listeners } from '../base/listeners.ts';

/** Text has to be sharp and seldom moves. */
const WISHES = { video: { frameRate: { ideal: 15, max: 15 } }, audio: false } as const;

export class Screen {
  readonly #listeners = new Listeners();
  #stream: MediaStream | null = null;
  #isAsking = false;
  /** Raised by `stop()`: what was asked for before it is not wanted any more. */
  #generation = 0;

  /** Phones cannot. */
  static get isPossible(): boolean {
    const devices: MediaDevices | undefined = navigator.mediaDevices;
    return devices !== undefined && 'getDisplayMedia' in devices;
  }

  get stream(): MediaStream | null {
    return this.#stream;
  }

  onChange(listener: () => void): void {
    this.#listeners.add(listener);
  }

  /** Must be called from a click. `cancelled`: the person has thought better of it, or the call is over by now. */
  async start(): Promise<'shared' | 'cancelled' | 'refused'> {
    if (this.#isAsking) return 'cancelled';
    const generation = this.#generation;
    this.#isAsking = true;
    try {
      const stream = await navigator.mediaDevices.getDisplayMedia(WISHES);
      if (generation === this.#generation) this.#share(stream);
      else stopAll(stream);
      return generation === this.#generation ? 'shared' : 'cancelled';
    } catch (error) {
      // Both have one name; of a system that does not let the browser see the screen, the browser says so.
      const isPerson =
        error instanceof DOMException && error.name === 'NotAllowedError' && !/system/i.test(error.message);
      return isPerson || generation !== this.#generation ? 'cancelled' : 'refused';
    } finally {
      this.#isAsking = false;
    }
  }

  stop(): void {
    this.#generation += 1;
    stopAll(this.#stream);
    if (this.#stream !== null) this.#set(null);
  }

  #share(stream: MediaStream): void {
    const [track] = stream.getVideoTracks();
    if (track !== undefined) track.contentHint = 'detail';
    track?.addEventListener('ended', () => this.#stream === stream && this.stop());
    this.#set(stream);
  }

  #set(stream: MediaStream | null): void {
    this.#stream = stream;
    this.#listeners.tell();
  }
}

function stopAll(stream: MediaStream | null): void {
  for (const track of stream?.getTracks() ?? []) track.stop();
}
