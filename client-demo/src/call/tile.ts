/** One person in the grid: picture or initials, name, and what there is to know about their connection. */
import { icon, make, setText } from '../base/elements.ts';
import { initialsOf, texts } from '../texts/texts.ts';
import { nameOf, presenceOf } from './person.ts';
import { Player, type Sound } from './player.ts';
import { QualityBars } from './quality.ts';
import type { Part } from './scene.ts';

export class Tile {
  readonly element = make('li', 'tile');
  readonly player: Player;
  readonly #initials = make('span', 'tile-initials');
  readonly #name = make('span', 'tile-name');
  readonly #status = make('span', 'tile-status');
  readonly #muted = make('span', 'tile-muted');
  readonly #bars = new QualityBars();

  constructor(isOwn: boolean, sound: Sound) {
    this.player = new Player('tile-video', isOwn ? null : sound);
    this.#initials.ariaHidden = 'true';
    this.#muted.append(icon('microphone-off'), make('span', 'visually-hidden', texts.person.muted));
    const face = make('span', 'tile-face');
    face.append(this.#initials, this.#status);
    const label = make('span', 'tile-label');
    label.append(this.#muted, this.#name);
    if (!isOwn) label.append(this.#bars.element);
    this.element.dataset['own'] = String(isOwn);
    // The initials lie under the picture: they are seen until there is one, and whenever it is not shown.
    this.element.append(face, this.player.element, label);
  }

  show({ member, isOwn, link, stream, isMirror, quality }: Part): void {
    const name = nameOf(member);
    const presence = presenceOf(member);
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

  release(): void {
    this.player.release();
  }
}

/** A screen that somebody shares: all of it, however it is shaped. */
export class ScreenTile {
  readonly element = make('li', 'screen');
  readonly player: Player;
  readonly #name = make('span', 'tile-label');

  constructor(sound: Sound) {
    this.player = new Player('screen-video', sound);
    this.element.append(this.player.element, this.#name);
  }

  show({ member, screen }: Part): void {
    setText(this.#name, texts.call.screenOf(nameOf(member)));
    this.player.show(screen);
  }

  release(): void {
    this.player.release();
  }
}

function statusOf(isAway: boolean, link: Part['link']): string {
  if (isAway) return texts.person.awayLong;
  if (link === 'connected') return '';
  return link === 'failed' ? texts.person.unreachable : texts.person.connecting;
}
