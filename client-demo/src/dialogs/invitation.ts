/** The invitation: the room's code, its link, and a QR code of the link. */
import type { RoomCode } from '../../../src/client/index.ts';
import { grouped, isLocal, linkTo } from '../base/code.ts';
import { elementById, elementIn, fillIn, setText } from '../base/elements.ts';
import { texts } from '../texts/texts.ts';
import { qrPicture } from './qr.ts';

const SAID_MS = 5_000;

export class Invitation {
  readonly #code: HTMLElement;
  readonly #link: HTMLElement;
  readonly #picture: HTMLElement;
  readonly #said: HTMLElement;
  #shown: RoomCode | undefined;

  /** @param copyLink resolves with the result as a sentence. */
  constructor(root: HTMLElement, copyLink: () => Promise<string>) {
    const { content } = elementById('invitation', HTMLTemplateElement);
    root.append(content.cloneNode(true));
    fillIn(root);
    if (isLocal()) elementIn(root, '.lead', HTMLElement).textContent = texts.invite.leadLocal;
    this.#code = elementIn(root, '[data-part="code"]', HTMLElement);
    this.#link = elementIn(root, '[data-part="link"]', HTMLElement);
    this.#picture = elementIn(root, '[data-part="picture"]', HTMLElement);
    this.#said = elementIn(root, '[data-part="said"]', HTMLElement);
    // Inside of the dialog: while it is open, screen readers ignore the rest of the page.
    const copy = async (): Promise<void> => {
      setText(this.#said, await copyLink());
      setTimeout(() => setText(this.#said, ''), SAID_MS);
    };
    elementIn(root, '[data-part="copy"]', HTMLButtonElement).addEventListener('click', () => void copy());
    const send = elementIn(root, '[data-part="send"]', HTMLButtonElement);
    send.hidden = !('share' in navigator);
    send.addEventListener('click', () => void this.#send());
  }

  show(code: RoomCode): void {
    setText(this.#said, '');
    if (code === this.#shown) return;
    this.#shown = code;
    const link = linkTo(code);
    this.#code.textContent = grouped(code);
    this.#link.textContent = link.replace(/^https?:\/\//, '');
    this.#picture.replaceChildren(qrPicture(link, texts.invite.picture(link)));
  }

  /** By the share function of the device. */
  async #send(): Promise<void> {
    if (this.#shown === undefined) return;
    // Cancelled by the user.
    await navigator.share({ title: texts.title, url: linkTo(this.#shown) }).catch(() => undefined);
  }
}
