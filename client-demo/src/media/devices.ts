/** The cameras, microphones and speakers of the device, and the choice of the speaker. */
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
    // Without permission, browsers list devices without their ids and names.
    return this.#all.filter((device) => device.kind === kind && device.deviceId !== '');
  }

  /** Whether there are devices without names, for lack of permission. */
  isHiding(kind: MediaDeviceKind): boolean {
    return this.#all.some((device) => device.kind === kind && device.deviceId === '');
  }

  onChange(listener: () => void): void {
    this.#listeners.add(listener);
  }

  /** Names are listed once the user has allowed the page to use a device. */
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

/** The audio output. Not every browser lets a page choose it. */
export class Speaker {
  readonly #listeners = new Listeners();
  readonly canBeChosen = 'setSinkId' in HTMLMediaElement.prototype;

  get id(): string {
    return recall('speaker') ?? '';
  }

  /** @returns a function that removes it. */
  onChange(listener: () => void): () => void {
    return this.#listeners.add(listener);
  }

  choose(id: string): void {
    remember('speaker', id === '' ? null : id);
    this.#listeners.tell();
  }

  play(element: HTMLMediaElement): void {
    if (!this.canBeChosen || element.sinkId === this.id) return;
    // The speaker is gone: the default one is used.
    element.setSinkId(this.id).catch(() => undefined);
  }
}
