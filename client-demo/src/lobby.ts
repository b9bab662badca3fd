/** The first view: who you are, which room, and what your camera sees. */
import type { RoomCode } from '../../src/protocol/index.ts';
import type { Camera } from './camera.ts';
import { codeOfAddress, grouped, typedCode } from './code.ts';
import { part } from './elements.ts';
import { recall, remember } from './storage.ts';
import { bindSwitches } from './switches.ts';
import { texts } from './texts.ts';

export interface LobbyEvents {
  join: (code: RoomCode) => Promise<unknown>;
  create: () => Promise<unknown>;
}

const form = part('lobby-form', HTMLFormElement);
const lead = part('lobby-lead', HTMLElement);
const name = part('lobby-name', HTMLInputElement);
const code = part('lobby-code', HTMLInputElement);
const error = part('lobby-error', HTMLElement);
const join = part('lobby-join', HTMLButtonElement);
const create = part('lobby-create', HTMLButtonElement);
const video = part('preview-video', HTMLVideoElement);
const note = part('preview-note', HTMLElement);

export class Lobby {
  readonly #events: LobbyEvents;
  readonly #camera: Camera;
  #digits = 6;

  constructor(events: LobbyEvents, camera: Camera) {
    this.#events = events;
    this.#camera = camera;
    name.value = recall('name') ?? '';
    bindSwitches('preview', camera);
    camera.onChange(() => this.#showCamera());
    this.#showCamera();
    form.addEventListener('submit', (event) => {
      event.preventDefault();
      void this.#join();
    });
    create.addEventListener('click', () => void this.#run(create, () => this.#events.create()));
    code.addEventListener('input', () => this.#typed());
    name.addEventListener('change', () => remember('name', nameIn(name.value)));
    window.addEventListener('hashchange', () => this.fromAddress());
  }

  /** As many digits as this server's codes have. */
  set digits(digits: number) {
    if (digits === this.#digits) return;
    this.#digits = digits;
    code.placeholder = grouped('0'.repeat(digits));
    this.fromAddress();
  }

  /** A link that was opened fills in its code; one click joins. */
  fromAddress(): void {
    const invited = codeOfAddress(this.#digits);
    lead.textContent = invited === undefined ? texts.lobby.lead : texts.lobby.invited(grouped(invited));
    if (invited !== undefined) code.value = grouped(invited);
  }

  complain(words: string): void {
    error.textContent = words;
    code.setAttribute('aria-invalid', String(words !== ''));
  }

  focus(): void {
    if (code.value === '') code.focus();
    else join.focus();
  }

  /** The name as it may be sent, or undefined for none. */
  get name(): string | undefined {
    return nameIn(name.value) ?? undefined;
  }

  #typed(): void {
    this.complain('');
    const complete = typedCode(code.value, this.#digits);
    if (complete !== undefined) code.value = grouped(complete);
  }

  async #join(): Promise<void> {
    const wanted = typedCode(code.value, this.#digits);
    if (wanted === undefined) {
      this.complain(texts.lobby.codeIncomplete(this.#digits));
      code.focus();
      return;
    }
    await this.#run(join, () => this.#events.join(wanted));
  }

  async #run(button: HTMLButtonElement, step: () => Promise<unknown>): Promise<void> {
    if (form.ariaBusy === 'true') return;
    remember('name', nameIn(name.value));
    this.complain('');
    const words = button.textContent;
    form.ariaBusy = 'true';
    button.textContent = texts.lobby.busy;
    try {
      await step();
    } finally {
      form.ariaBusy = 'false';
      button.textContent = words;
    }
  }

  #showCamera(): void {
    const { asking, fault, presence, picture } = this.#camera;
    if (video.srcObject !== picture) video.srcObject = picture;
    note.textContent = asking
      ? texts.camera.asking
      : fault !== null && !presence.camera
        ? presence.microphone
          ? texts.camera.noCamera
          : texts.camera[fault]
        : presence.camera
          ? ''
          : texts.camera.off;
  }
}

/** Control characters come in by pasting, and the server refuses them. */
function nameIn(typed: string): string | null {
  const name = typed
    .toWellFormed()
    .replace(/\p{Control}+/gu, ' ')
    .trim();
  return name === '' ? null : name;
}
