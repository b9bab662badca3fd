/** The tile of one member: video or initials, name, and the quality of the connection. */
import { createHtml, icon, setIcon, setLabel, setText } from '../base/elements.ts';
import { initialsOf, texts } from '../texts/texts.ts';
import type { Participant } from './call-state.ts';
import { nameOf, presenceOf } from './person.ts';
import { Player, type Sound } from './player.ts';
import { QualityBars } from './quality.ts';

export class Tile {
  readonly element = createHtml('li', 'tile');
  readonly player: Player;
  readonly #initials = createHtml('span', 'tile-initials');
  readonly #name = createHtml('span', 'tile-name');
  readonly #status = createHtml('span', 'tile-status');
  readonly #muted = createHtml('span', 'tile-muted');
  readonly #bars = new QualityBars();

  readonly #size = sizeButton();
  #person = '';

  /** @param enlarge toggles the enlarged tile. */
  constructor(isOwn: boolean, sound: Sound, enlarge: () => void) {
    this.player = new Player('tile-video', isOwn ? null : sound);
    this.#initials.ariaHidden = 'true';
    this.#muted.append(icon('microphone-off'), createHtml('span', 'visually-hidden', texts.person.muted));
    const face = createHtml('span', 'tile-face');
    face.append(this.#initials, this.#status);
    const label = createHtml('span', 'tile-label');
    label.append(this.#muted, this.#name);
    if (!isOwn) label.append(this.#bars.element);
    this.element.dataset['own'] = String(isOwn);
    // The initials are behind the video: visible while there is none.
    // A click anywhere on the tile; the keyboard uses the button, whose click bubbles up to here.
    this.element.addEventListener('click', enlarge);
    this.element.append(face, this.player.element, label, this.#size);
  }

  show({ member, isOwn, link, stream, isMirror, quality }: Participant): void {
    const name = nameOf(member);
    const presence = presenceOf(member);
    this.#person = name;
    setText(this.#name, isOwn ? texts.person.me : name);
    setText(this.#initials, initialsOf(name));
    setText(this.#status, isOwn ? '' : statusOf(member.state === 'away', link));
    this.#muted.hidden = presence.microphone;
    this.#bars.show(quality);
    const { dataset } = this.element;
    dataset['userId'] = member.userId;
    dataset['state'] = isOwn ? 'present' : member.state;
    dataset['link'] = link;
    dataset['camera'] = presence.camera ? 'on' : 'off';
    dataset['tone'] = String(member.seq % 6);
    this.player.element.dataset['mirror'] = String(isMirror);
    this.player.show(stream);
  }

  showSize(isLarge: boolean, canChange: boolean): void {
    this.element.dataset['large'] = String(isLarge);
    this.element.dataset['sizes'] = String(canChange);
    this.#size.hidden = !canChange;
    setLabel(this.#size, isLarge ? texts.call.shrink(this.#person) : texts.call.enlarge(this.#person));
    setIcon(this.#size, isLarge ? 'shrink' : 'enlarge');
  }

  release(): void {
    this.player.release();
  }
}

/** The tile of a shared screen: shown uncropped. */
export class ScreenTile {
  readonly element = createHtml('li', 'screen');
  readonly player: Player;
  readonly #name = createHtml('span', 'tile-label');
  readonly #size = sizeButton();

  constructor(sound: Sound) {
    this.player = new Player('screen-video', sound);
    this.#size.hidden = !document.fullscreenEnabled;
    this.#size.addEventListener('click', () => void this.#toggle());
    this.element.addEventListener('fullscreenchange', () => this.#showSize());
    this.element.append(this.player.element, this.#name, this.#size);
    this.#showSize();
  }

  get #isFull(): boolean {
    return document.fullscreenElement === this.element;
  }

  #showSize(): void {
    setLabel(this.#size, this.#isFull ? texts.call.shrinkScreen : texts.call.fillScreen);
    setIcon(this.#size, this.#isFull ? 'shrink' : 'enlarge');
  }

  /** A browser may refuse: then nothing changes. */
  async #toggle(): Promise<void> {
    await (this.#isFull ? document.exitFullscreen() : this.element.requestFullscreen()).catch(() => undefined);
  }

  show({ member, screen }: Participant): void {
    setText(this.#name, texts.call.screenOf(nameOf(member)));
    this.player.show(screen);
  }

  release(): void {
    this.player.release();
  }
}

function sizeButton(): HTMLButtonElement {
  const button = createHtml('button', 'round small tile-size');
  button.type = 'button';
  button.append(icon('enlarge'));
  return button;
}

function statusOf(isAway: boolean, link: Participant['link']): string {
  if (isAway) return texts.person.awayLong;
  if (link === 'connected') return '';
  return link === 'failed' ? texts.person.unreachable : texts.person.connecting;
}
