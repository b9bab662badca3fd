/** Our own screen, while we share it. The browser has a "stop sharing" of its own, so it may end without us. */
import { Listeners } from '../base/listeners.ts';

/** Text has to be sharp and seldom moves. */
const WISHES = { video: { frameRate: { ideal: 15, max: 15 } }, audio: false } as const;

export class Screen {
  readonly #listeners = new Listeners();
  #stream: MediaStream | null = null;

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

  /** Must be called from a click. `cancelled`: the person has thought better of it. */
  async start(): Promise<'shared' | 'cancelled' | 'refused'> {
    try {
      const stream = await navigator.mediaDevices.getDisplayMedia(WISHES);
      const [track] = stream.getVideoTracks();
      if (track !== undefined) track.contentHint = 'detail';
      track?.addEventListener('ended', () => this.#stream === stream && this.stop());
      this.#set(stream);
      return 'shared';
    } catch (error) {
      // Both have one name; of a system that does not let the browser see the screen, the browser says so.
      const isPerson =
        error instanceof DOMException && error.name === 'NotAllowedError' && !/system/i.test(error.message);
      return isPerson ? 'cancelled' : 'refused';
    }
  }

  stop(): void {
    for (const track of this.#stream?.getTracks() ?? []) track.stop();
    if (this.#stream !== null) this.#set(null);
  }

  #set(stream: MediaStream | null): void {
    this.#stream = stream;
    this.#listeners.tell();
  }
}
