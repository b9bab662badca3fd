/** The camera, microphone, screen and speaker of this device, and the notices when one is lost. */
import type { MediaKind } from '../../../src/client/index.ts';
import { elementById } from '../base/elements.ts';
import type { Notice } from '../base/notice.ts';
import { bindDevicePicker } from '../dialogs/device-picker.ts';
import { Dialog } from '../dialogs/dialog.ts';
import { bindPreview } from '../lobby/preview.ts';
import { texts } from '../texts/texts.ts';
import { Capture, type CaptureFault } from './capture.ts';
import { Devices, Speaker } from './devices.ts';
import { Screen } from './screen.ts';
import { bindSwitches } from './switches.ts';
import { Wakefulness } from './wake-lock.ts';

export class Media {
  readonly capture = new Capture();
  readonly screen = new Screen();
  readonly speaker = new Speaker();
  readonly wakefulness = new Wakefulness();
  readonly #devices = new Devices();
  readonly #notice: Notice;

  constructor(notice: Notice) {
    this.#notice = notice;
    const { capture, speaker } = this;
    bindPreview(capture);
    // In the lobby the preview shows the error.
    bindSwitches('preview', capture, (kind, fault) => kind === 'audio' && this.#failed(kind, fault));
    bindSwitches('call', capture, (kind, fault) => this.#failed(kind, fault));
    capture.onChange(() => void (capture.asking || this.#devices.refresh()));
    capture.onGone((kind, replacement) => this.#gone(kind, replacement));
    const dialog = new Dialog(elementById('devices-dialog', HTMLDialogElement));
    for (const id of ['lobby-devices', 'dialog-devices']) {
      bindDevicePicker(elementById(id, HTMLElement), { capture, speaker, devices: this.#devices });
    }
    for (const id of ['preview-devices', 'call-devices']) {
      elementById(id, HTMLButtonElement).addEventListener('click', () => void dialog.open());
    }
  }

  /** Must be called from a click. */
  async toggleScreen(): Promise<void> {
    if (this.screen.stream !== null) this.screen.stop();
    else if ((await this.screen.start()) === 'refused') this.#notice.remark(texts.call.shareRefused);
  }

  #failed(kind: MediaKind, fault: CaptureFault): void {
    this.#notice.remark(wordsFor(kind)[fault]);
  }

  #gone(kind: MediaKind, replacement: string | null): void {
    this.#notice.remark(replacement === null ? wordsFor(kind).gone : texts.camera.exchanged(replacement));
  }
}

const wordsFor = (kind: MediaKind) => (kind === 'video' ? texts.camera : texts.microphone);
