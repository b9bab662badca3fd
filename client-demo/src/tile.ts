/** One person in the grid: picture or initials, name, and what there is to know about their connection. */
import type { Member } from '../../src/protocol/index.ts';
import { icon, make } from './elements.ts';
import type { LinkState } from './mesh.ts';
import { presenceOf } from './page.ts';
import { initialsOf, texts } from './texts.ts';

export const nameOf = (member: Member): string => member.name ?? texts.person.guest(member.seq);

export class Tile {
  readonly element = make('li', 'tile');
  readonly #video = make('video', 'tile-video');
  readonly #initials = make('span', 'tile-initials');
  readonly #name = make('span', 'tile-name');
  readonly #status = make('span', 'tile-status');
  readonly #muted = make('span', 'tile-muted');
  readonly #own: boolean;

  constructor(own: boolean, silenced: () => void) {
    this.#own = own;
    this.#video.autoplay = true;
    this.#video.playsInline = true;
    this.#video.muted = own;
    this.#video.tabIndex = -1;
    this.#video.ariaHidden = 'true';
    this.#initials.ariaHidden = 'true';
    this.#muted.append(icon('microphone-off'), make('span', 'visually-hidden', texts.person.muted));
    const label = make('span', 'tile-label');
    label.append(this.#name, this.#muted);
    this.element.dataset['own'] = String(own);
    this.element.append(this.#video, this.#initials, this.#status, label);
    // After a refresh nobody has clicked anything yet, and browsers play sound only after a click.
    this.#video.addEventListener('loadedmetadata', () => void this.#playOr(silenced));
  }

  show(member: Member, link: LinkState | undefined): void {
    const name = nameOf(member);
    const presence = presenceOf(member);
    const away = member.state === 'away';
    this.#name.textContent = this.#own ? texts.person.me : name;
    this.#initials.textContent = initialsOf(name);
    this.#muted.hidden = presence.microphone;
    this.#status.textContent = this.#own || link === 'connected' ? '' : linkText(link);
    if (away && !this.#own) this.#status.textContent = texts.person.awayLong;
    const { dataset } = this.element;
    dataset['userId'] = member.userId;
    dataset['state'] = member.state;
    dataset['link'] = this.#own ? 'connected' : (link ?? 'connecting');
    dataset['camera'] = presence.camera ? 'on' : 'off';
    dataset['tone'] = String(member.seq % 6);
  }

  set stream(stream: MediaStream | null) {
    if (this.#video.srcObject !== stream) this.#video.srcObject = stream;
  }

  async play(): Promise<void> {
    await this.#video.play();
  }

  async #playOr(silenced: () => void): Promise<void> {
    try {
      await this.play();
    } catch (error) {
      if (error instanceof DOMException && error.name === 'NotAllowedError') silenced();
    }
  }

  remove(): void {
    this.#video.srcObject = null;
    this.element.remove();
  }
}

const linkText = (link: LinkState | undefined): string =>
  link === 'failed' ? texts.person.unreachable : texts.person.connecting;
