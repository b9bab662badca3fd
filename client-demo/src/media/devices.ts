/** Which cameras, microphones and speakers there are, and which speaker plays the others. */
import { Listeners } from '../base/listeners.ts';
import { recall, remember } from '../base/storage.ts';

export class Devices {
  readonly #listeners = new Listeners();
  #all: readonly MediaDeviceInfo[] = [];

  constructor() {
    // Absent on pages that are neither https nor localhost, whatever its type says.
    const devices: MediaDevices | undefined = navigator.mediaDevices;
    devices?.addEventListener('devicechange', () => void this.refresh());
  }

  of(kind: MediaDeviceKind): readonly MediaDeviceInfo[] {
    // Without a permission browsers tell that there is one, but not which.
    return this.#all.filter((device) => device.kind === kind && device.deviceId !== '');
  }

  /** Whether there are some of which the browser does not tell more: it has not been allowed to. */
  isHiding(kind: MediaDeviceKind): boolean {
    return this.#all.some((device) => device.kind === kind && device.deviceId === '');
  }

  onChange(listener: () => void): void {
    this.#listeners.add(listener);
  }

  /** Names appear only once the person has allowed the page to use a device. */
  async refresh(): Promise<void> {
    const devices: MediaDevices | undefined = navigator.mediaDevices;
    try {
      this.#all = (await devices?.enumerateDevices()) ?? [];
    } catch {
      this.#all = [];
    }
    this.#listeners.tell();
  }
}

/** Where the sound of the others comes out. Not every browser lets a page choose. */
export class Speaker {
  readonly #listeners = new Listeners();
  readonly canBeChosen = 'setSinkId' in HTMLMediaElement.prototype;

  get id(): string {
    return recall('speaker') ?? '';
  }

  /** @returns what takes it away again. */
  onChange(listener: () => void): () => void {
    return this.#listeners.add(listener);
  }

  choose(id: string): void {
    remember('speaker', id === '' ? null : id);
    this.#listeners.tell();
  }

  play(element: HTMLMediaElement): void {
    if (!this.canBeChosen || element.sinkId === this.id) return;
    // A speaker that is not there any more: the sound goes where all sound goes.
    element.setSinkId(this.id).catch(() => undefined);
  }
}
