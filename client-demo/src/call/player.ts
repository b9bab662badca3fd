/** A video of somebody else: plays as soon as there is something to play, silently while the browser forbids sound. */
import { createHtml } from '../base/elements.ts';
import type { Speaker } from '../media/devices.ts';

export interface Sound {
  readonly speaker: Speaker;
  /** The browser plays nobody's sound until there is a click. */
  silenced(): void;
}

export class Player {
  readonly element: HTMLVideoElement;
  readonly #sound: Sound | null;
  readonly #forget: (() => void) | undefined;

  /** @param sound null for our own picture: nobody wants to hear themselves. */
  constructor(className: string, sound: Sound | null) {
    this.element = createHtml('video', className);
    this.#sound = sound;
    this.element.playsInline = true;
    this.element.muted = sound === null;
    this.element.tabIndex = -1;
    this.element.ariaHidden = 'true';
    this.element.addEventListener('loadedmetadata', () => void this.#start());
    // The browser pauses what it has to, such as in picture-in-picture of another page; a call is never paused.
    this.element.addEventListener('pause', () => void this.#start());
    this.#forget = sound?.speaker.onChange(() => sound.speaker.play(this.element));
  }

  show(stream: MediaStream | null): void {
    if (this.element.srcObject !== stream) this.element.srcObject = stream;
  }

  /** It is not shown any more, and never will be again. */
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
      // Without sound every browser plays: better to see them than not.
      this.element.muted = true;
      this.#sound?.silenced();
      await this.#start();
    }
  }
}
