/** The tiles of all members, as large as fits; shared screens first, the cameras beside or below them. */

import { elementById } from '../base/elements.ts';
import { type KeyedItem, KeyedList } from '../base/keyed-list.ts';
import { keyOf, type Participant } from './call-state.ts';
import { gridFor, spotlightFor } from './layout.ts';
import type { Sound } from './player.ts';
import { ScreenTile, Tile } from './tile.ts';

const grid = elementById('stage', HTMLElement);
const tiles = elementById('tiles', HTMLUListElement);
const screens = elementById('screens', HTMLUListElement);

export class TileGrid {
  readonly #sound: Sound;
  readonly #tiles = new KeyedList<Tile>(tiles);
  readonly #screens = new KeyedList<ScreenTile>(screens);
  /** The key of the tile that is enlarged. */
  #large: string | null = null;
  #isOthers = false;
  readonly #observer = new ResizeObserver(() => this.#arrange());

  constructor(sound: Sound) {
    this.#sound = sound;
    this.#observer.observe(tiles);
    this.#observer.observe(screens);
  }

  show(participants: readonly Participant[]): void {
    const shared = participants.filter(({ screen }) => screen !== null);
    this.#tiles.keep(participants.map(keyOf));
    this.#screens.keep(shared.map(keyOf));
    this.#isOthers = participants.length > 1;
    if (!this.#isOthers || !participants.some((one) => keyOf(one) === this.#large)) this.#large = null;
    for (const one of participants) {
      const key = keyOf(one);
      this.#tiles.get(key, () => new Tile(one.isOwn, this.#sound, () => this.#enlarge(key))).show(one);
    }
    for (const one of shared) this.#screens.get(keyOf(one), () => new ScreenTile(this.#sound)).show(one);
    screens.hidden = shared.length === 0;
    grid.dataset['screens'] = String(shared.length > 0);
    grid.dataset['alone'] = String(participants.length === 1);
    this.#arrange();
  }

  clear(): void {
    this.#large = null;
    this.#tiles.keep([]);
    this.#screens.keep([]);
  }

  /** Must be called from a click. */
  async unmute(): Promise<void> {
    await Promise.allSettled([...this.#tiles.all, ...this.#screens.all].map(({ player }) => player.unmute()));
  }

  /** A second call makes it as large as the others. */
  #enlarge(key: string): void {
    if (!this.#isOthers) return;
    this.#large = this.#large === key ? null : key;
    this.#arrange();
  }

  #arrange(): void {
    grid.dataset['spotlight'] = String(this.#large !== null);
    const large = this.#large === null ? undefined : this.#tiles.find(this.#large);
    for (const tile of this.#tiles.all) tile.showSize(tile === large, this.#isOthers);
    arrange(tiles, this.#tiles.all, this.#large !== null);
    arrange(screens, this.#screens.all);
  }
}

function arrange(list: HTMLElement, shown: readonly KeyedItem[], isSpotlight = false): void {
  const { clientWidth, clientHeight } = list;
  const gap = Number.parseFloat(getComputedStyle(list).columnGap) || 0;
  const area = { count: shown.length, width: clientWidth, height: clientHeight, gap };
  const { large, small } = isSpotlight ? spotlightFor(area) : { large: null, small: gridFor(area) };
  list.style.setProperty('--tile-width', `${small.width}px`);
  list.style.setProperty('--tile-height', `${small.height}px`);
  list.style.setProperty('--large-width', `${large?.width ?? 0}px`);
  list.style.setProperty('--large-height', `${large?.height ?? 0}px`);
}
