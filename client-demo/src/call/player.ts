/** A video element of a peer: plays as soon as there is a track, muted while the browser forbids sound. */
import { createHtml } from '../base/elements.ts';
import type { Speaker } from '../media/devices.ts';

export interface Sound {
  readonly speaker: Speaker;
  /** The browser's autoplay policy forbids sound until there is a click. */
  silenced(): void;
}

export class Player {
  readonly element: HTMLVideoElement;
  readonly #sound: Sound | null;
  readonly #forget: (() => void) | undefined;

  /** @param sound null for the own video, which is always muted. */
  constructor(className: string, sound: Sound | null) {
    this.element = createHtml('video', className);
    this.#sound = sound;
    this.element.playsInline = true;
    this.element.muted = sound === null;
    this.element.tabIndex = -1;
    this.element.ariaHidden = 'true';
    this.element.addEventListener('loadedmetadata', () => void this.#start());
    // The browser may pause it, for instance for picture-in-picture of another page; a call goes on playing.
    this.element.addEventListener('pause', () => void this.#start());
    this.#forget = sound?.speaker.onChange(() => sound.speaker.play(this.element));
  }

  show(stream: MediaStream | null): void {
    if (this.element.srcObject !== stream) this.element.srcObject = stream;
  }

  /** Releases it. It must not be used afterwards. */
  release(): void {
    this.#forget?.();
    this.show(null);
  }

  /** Must be called from a click. */
  async unmute(): Promise<void> {
    if (this.#sound !== null) this.element.muted = false;
    await this.#start();
  }

  async #start(): Promise<void> {
    if (this.element.srcObject === null || !this.element.isConnected) return;
    this.#sound?.speaker.play(this.element);
    try {
      await this.element.play();
    } catch (error) {
      const isRefused = error instanceof DOMException && error.name === 'NotAllowedError';
      if (!isRefused || this.element.muted) return;
      // Every browser plays a muted video.
      this.element.muted = true;
      this.#sound?.silenced();
      await this.#start();
    }
  }
}
