/** The own camera and microphone: either may be missing, denied, unplugged, or turned off and on. */
import type { MediaKind } from '../../../src/client/index.ts';
import { Listeners } from '../base/listeners.ts';
import { recall, remember } from '../base/storage.ts';
import { pictureFor } from './picture-size.ts';

export interface Presence {
  readonly camera: boolean;
  readonly microphone: boolean;
}

/** Why there is no video or no audio. */
export type CaptureFault = 'denied' | 'missing' | 'busy' | 'insecure' | 'unknown';

/** @param replacement the name of the device that is used instead; null if there is none. */
type GoneListener = (kind: MediaKind, replacement: string | null) => void;

const PREFERRED = { audio: 'microphone', video: 'camera' } as const;

export class Capture {
  readonly #picture = new MediaStream();
  readonly #listeners = new Listeners();
  readonly #tracks: Record<MediaKind, MediaStreamTrack | null> = { audio: null, video: null };
  readonly #faults: Record<MediaKind, CaptureFault | null> = { audio: null, video: null };
  #gone: GoneListener = () => undefined;
  #asking = false;
  /** Serial queue: one request to the browser at a time, even if its result will be discarded. */
  #turn: Promise<void> = Promise.resolve();
  /** Raised by `stop()`: results of earlier requests are discarded. */
  #generation = 0;
  #startedIn = -1;
  /** Number of members: it decides the size of the video. */
  #people = 1;

  get tracks(): Readonly<Record<MediaKind, MediaStreamTrack | null>> {
    return this.#tracks;
  }

  /** Errors of the last requests. */
  get faults(): Readonly<Record<MediaKind, CaptureFault | null>> {
    return this.#faults;
  }

  /** A stream of the present tracks. */
  get stream(): MediaStream {
    return new MediaStream(Object.values(this.#tracks).filter((track) => track !== null));
  }

  /**
   * For the own tile, without audio. Null without a camera: a page with a video element that waits for a track would
   * count as loading for ever.
   */
  get picture(): MediaStream | null {
    return this.#tracks.video === null ? null : this.#picture;
  }

  /** Whether the own tile is mirrored: yes for a camera that faces the user, no for one that faces away. */
  get isMirror(): boolean {
    return this.#tracks.video?.getSettings().facingMode !== 'environment';
  }

  get presence(): Presence {
    return { camera: this.#tracks.video !== null, microphone: this.#tracks.audio?.enabled === true };
  }

  /** Whether the browser's permission prompt is open. */
  get asking(): boolean {
    return this.#asking;
  }

  onChange(listener: () => void): void {
    this.#listeners.add(listener);
  }

  /** A device was unplugged while it was in use. */
  onGone(listener: GoneListener): void {
    this.#gone = listener;
  }

  /** Opens both, or the one that can be opened. Until `stop()`, only the first call asks. */
  async start(): Promise<void> {
    const generation = this.#generation;
    if (this.#startedIn === generation) return;
    this.#startedIn = generation;
    if (this.#tracks.audio !== null || this.#tracks.video !== null) return;
    if (recall('tab.video') === 'off') return this.#obtain(['audio']);
    await this.#obtain(['audio', 'video']);
    // Requested together they fail together, even if only one is missing or in use.
    if (this.#faults.video !== 'missing' && this.#faults.video !== 'busy') return;
    if (generation === this.#generation) await this.#obtain(['audio']);
    if (generation === this.#generation && this.#tracks.audio === null) await this.#obtain(['video']);
  }

  stop(): void {
    this.#generation += 1;
    this.#put('audio', null);
    this.#put('video', null);
    this.#listeners.tell();
  }

  /** Must be called from a click if the browser has to ask. Resolves with the error, or null. */
  async toggle(kind: MediaKind): Promise<CaptureFault | null> {
    const track = this.#tracks[kind];
    if (this.#asking) return null;
    if (track === null) {
      const generation = this.#generation;
      remember(`tab.${kind}`, null);
      await this.#obtain([kind]);
      return generation === this.#generation ? this.#faults[kind] : null;
    }
    if (kind === 'audio') {
      // Disabled, not stopped: reopening the device would take so long that the first word is lost.
      track.enabled = !track.enabled;
      remember('tab.audio', track.enabled ? null : 'off');
    } else {
      // Stopped: the camera's light goes off.
      this.#put('video', null);
      remember('tab.video', 'off');
    }
    this.#listeners.tell();
    return null;
  }

  /** Uses another device from now on, at once if one of that kind is in use. */
  async choose(kind: MediaKind, deviceId: string): Promise<void> {
    remember(PREFERRED[kind], deviceId);
    if (this.#tracks[kind] === null || this.#asking) return;
    // Phones cannot open a second camera beside the first.
    if (kind === 'video') this.#put('video', null);
    await this.#obtain([kind]);
  }

  fit(people: number): void {
    if (people === this.#people) return;
    this.#people = people;
    // A camera that does not support the constraints keeps its settings.
    this.#tracks.video?.applyConstraints(pictureFor(people)).catch(() => undefined);
  }

  #obtain(kinds: readonly MediaKind[]): Promise<void> {
    const generation = this.#generation;
    this.#turn = this.#turn.then(() => this.#prompt(kinds, generation));
    return this.#turn;
  }

  async #prompt(kinds: readonly MediaKind[], generation: number): Promise<void> {
    if (generation !== this.#generation) return;
    this.#asking = true;
    this.#listeners.tell();
    let fault: CaptureFault | null = null;
    let stream: MediaStream | null = null;
    try {
      // Absent on pages that are neither https nor localhost, whatever its type says.
      const devices: MediaDevices | undefined = navigator.mediaDevices;
      if (devices === undefined) fault = 'insecure';
      else stream = await this.#ask(devices, kinds);
    } catch (error) {
      fault = faultOf(error);
    }
    this.#asking = false;
    if (generation !== this.#generation) for (const track of stream?.getTracks() ?? []) track.stop();
    else {
      if (stream !== null) this.#keep(stream);
      for (const kind of kinds) this.#faults[kind] = fault;
    }
    this.#listeners.tell();
  }

  /** Opens the devices chosen last, or any others if those are missing. */
  async #ask(devices: MediaDevices, kinds: readonly MediaKind[]): Promise<MediaStream> {
    try {
      return await devices.getUserMedia(this.#wishes(kinds, true));
    } catch (error) {
      if (nameOf(error) !== 'OverconstrainedError') throw error;
      return await devices.getUserMedia(this.#wishes(kinds, false));
    }
  }

  #wishes(kinds: readonly MediaKind[], areChosen: boolean): MediaStreamConstraints {
    const chosen = (kind: MediaKind): MediaTrackConstraints => {
      const deviceId = areChosen ? recall(PREFERRED[kind]) : null;
      return deviceId === null ? {} : { deviceId: { exact: deviceId } };
    };
    return {
      ...(kinds.includes('audio') && { audio: chosen('audio') }),
      ...(kinds.includes('video') && {
        video: { ...pictureFor(this.#people), facingMode: 'user', ...chosen('video') },
      }),
    };
  }

  #keep(stream: MediaStream): void {
    for (const track of stream.getTracks()) {
      const kind = track.kind === 'audio' ? 'audio' : 'video';
      if (kind === 'audio' && recall('tab.audio') === 'off') track.enabled = false;
      this.#put(kind, track);
      track.addEventListener('ended', () => void this.#lost(kind, track));
    }
  }

  /** Unplugged, or the permission was revoked: another device of that kind replaces it. */
  async #lost(kind: MediaKind, track: MediaStreamTrack): Promise<void> {
    if (this.#tracks[kind] !== track) return;
    const generation = this.#generation;
    this.#put(kind, null);
    await this.#obtain([kind]);
    if (generation === this.#generation) this.#gone(kind, this.#tracks[kind]?.label ?? null);
  }

  #put(kind: MediaKind, track: MediaStreamTrack | null): void {
    this.#tracks[kind]?.stop();
    this.#tracks[kind] = track;
    if (kind === 'audio') return;
    for (const old of this.#picture.getTracks()) this.#picture.removeTrack(old);
    if (track !== null) this.#picture.addTrack(track);
  }
}

function faultOf(error: unknown): CaptureFault {
  switch (nameOf(error)) {
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

/** Browsers throw different classes of errors, but with the same names. */
const nameOf = (error: unknown): unknown =>
  typeof error === 'object' && error !== null && 'name' in error ? error.name : undefined;
