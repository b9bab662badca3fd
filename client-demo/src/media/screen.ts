/** The own screen share. The browser's "stop sharing" button may end it, too. */
import { Listeners } from '../base/listeners.ts';

/** Few frames, sharp text. */
const WISHES = { video: { frameRate: { ideal: 15, max: 15 } }, audio: false } as const;

export class Screen {
  readonly #listeners = new Listeners();
  #stream: MediaStream | null = null;
  #isAsking = false;
  /** Raised by `stop()`: results of earlier requests are discarded. */
  #generation = 0;

  /** Phones cannot share their screen. */
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

  /** Must be called from a click. `cancelled`: by the user, or because the call is over. */
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
      // Both errors have the same name; the message says whether the operating system denies screen capture.
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
