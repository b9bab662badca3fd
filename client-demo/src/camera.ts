/** Our own camera and microphone: either may be missing, refused, or turned off and on again. */
import type { Presence } from './page.ts';
import type { Tracks } from './pair.ts';
import { recall, remember } from './storage.ts';
import type { CameraFault } from './texts.ts';

type Kind = 'audio' | 'video';

/** Enough for four tiles on one screen; every member encodes its picture once per other member. */
const WISHES = {
  audio: true,
  video: { width: { ideal: 640 }, height: { ideal: 480 }, frameRate: { ideal: 24, max: 30 }, facingMode: 'user' },
} as const;

export class Camera {
  readonly #picture = new MediaStream();
  readonly #listeners = new Set<() => void>();
  #audio: MediaStreamTrack | null = null;
  #video: MediaStreamTrack | null = null;
  #asking = false;
  #fault: CameraFault | null = null;

  get tracks(): Tracks {
    return { audio: this.#audio, video: this.#video };
  }

  /**
   * For our own eyes: no sound, nobody wants to hear themselves. Null without a camera: a page whose video element
   * waits for a track counts as loading for ever.
   */
  get picture(): MediaStream | null {
    return this.#video === null ? null : this.#picture;
  }

  get presence(): Presence {
    return { camera: this.#video !== null, microphone: this.#audio?.enabled === true };
  }

  /** Whether the browser is asking the person right now. */
  get asking(): boolean {
    return this.#asking;
  }

  /** Why there is no picture or no sound, from the last time they were asked for. */
  get fault(): CameraFault | null {
    return this.#fault;
  }

  onChange(listener: () => void): void {
    this.#listeners.add(listener);
  }

  /** Both if they are there, else the one that is. */
  async start(): Promise<void> {
    if (this.#audio !== null || this.#video !== null) return;
    if (recall('video') === 'off') return this.#obtain(['audio']);
    await this.#obtain(['audio', 'video']);
    if (this.#fault !== 'missing') return;
    await this.#obtain(['audio']);
    if (this.#audio === null) await this.#obtain(['video']);
  }

  stop(): void {
    this.#put('audio', null);
    this.#put('video', null);
    this.#changed();
  }

  async toggle(kind: Kind): Promise<void> {
    if (this.#asking) return;
    if (kind === 'audio' && this.#audio !== null) {
      // Kept open: a microphone that has to be opened first cuts off the first word.
      this.#audio.enabled = !this.#audio.enabled;
      remember('audio', this.#audio.enabled ? null : 'off');
      this.#changed();
    } else if (kind === 'video' && this.#video !== null) {
      // Stopped, so that the camera's light goes out.
      this.#put('video', null);
      remember('video', 'off');
      this.#changed();
    } else {
      remember(kind, null);
      await this.#obtain([kind]);
    }
  }

  async #obtain(kinds: readonly Kind[]): Promise<void> {
    this.#asking = true;
    this.#changed();
    try {
      this.#fault = null;
      // Absent on pages that are neither https nor localhost, whatever its type says.
      const devices: MediaDevices | undefined = navigator.mediaDevices;
      if (devices === undefined) this.#fault = 'insecure';
      else this.#keep(await devices.getUserMedia(Object.fromEntries(kinds.map((kind) => [kind, WISHES[kind]]))));
    } catch (error) {
      this.#fault = faultOf(error);
    }
    this.#asking = false;
    this.#changed();
  }

  #keep(stream: MediaStream): void {
    for (const track of stream.getTracks()) {
      const kind = track.kind === 'audio' ? 'audio' : 'video';
      if (kind === 'audio' && recall('audio') === 'off') track.enabled = false;
      this.#put(kind, track);
      // Unplugged, or the permission was taken back.
      track.addEventListener('ended', () => {
        if (this.tracks[kind] !== track) return;
        this.#put(kind, null);
        this.#changed();
      });
    }
  }

  #put(kind: Kind, track: MediaStreamTrack | null): void {
    this.tracks[kind]?.stop();
    if (kind === 'audio') this.#audio = track;
    else {
      for (const old of this.#picture.getTracks()) this.#picture.removeTrack(old);
      if (track !== null) this.#picture.addTrack(track);
      this.#video = track;
    }
  }

  #changed(): void {
    for (const listener of this.#listeners) listener();
  }
}

function faultOf(error: unknown): CameraFault {
  switch (error instanceof DOMException ? error.name : '') {
    case 'NotAllowedError':
    case 'SecurityError':
      return 'denied';
    case 'NotFoundError':
    case 'OverconstrainedError':
      return 'missing';
    case 'NotReadableError':
    case 'AbortError':
      return 'busy';
    default:
      return 'unknown';
  }
}
