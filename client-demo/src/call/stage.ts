/** Everybody's picture, as large as fits; what somebody shares comes first, the cameras beside or below it. */

import { part } from '../base/elements.ts';
import { Keyed, type Shown } from '../base/keyed.ts';
import { gridFor, spotlightFor } from './layout.ts';
import type { Sound } from './player.ts';
import { keyOf, type Part } from './scene.ts';
import { ScreenTile, Tile } from './tile.ts';

const stage = part('stage', HTMLElement);
const tiles = part('tiles', HTMLUListElement);
const screens = part('screens', HTMLUListElement);

export class Stage {
  readonly #sound: Sound;
  readonly #tiles = new Keyed<Tile>(tiles);
  readonly #screens = new Keyed<ScreenTile>(screens);
  /** The key of the tile that is enlarged. */
  #large: string | null = null;
  #isOthers = false;
  readonly #observer = new ResizeObserver(() => this.#arrange());

  constructor(sound: Sound) {
    this.#sound = sound;
    this.#observer.observe(tiles);
    this.#observer.observe(screens);
  }

  show(parts: readonly Part[]): void {
    const shared = parts.filter(({ screen }) => screen !== null);
    this.#tiles.keep(parts.map(keyOf));
    this.#screens.keep(shared.map(keyOf));
    this.#isOthers = parts.length > 1;
    if (!this.#isOthers || !parts.some((one) => keyOf(one) === this.#large)) this.#large = null;
    for (const one of parts) {
      const key = keyOf(one);
      this.#tiles.get(key, () => new Tile(one.isOwn, this.#sound, () => this.#enlarge(key))).show(one);
    }
    for (const one of shared) this.#screens.get(keyOf(one), () => new ScreenTile(this.#sound)).show(one);
    screens.hidden = shared.length === 0;
    stage.dataset['screens'] = String(shared.length > 0);
    stage.dataset['alone'] = String(parts.length === 1);
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

  /** Again: as large as the others. */
  #enlarge(key: string): void {
    if (!this.#isOthers) return;
    this.#large = this.#large === key ? null : key;
    this.#arrange();
  }

  #arrange(): void {
    stage.dataset['spotlight'] = String(this.#large !== null);
    const large = this.#large === null ? undefined : this.#tiles.find(this.#large);
    for (const tile of this.#tiles.all) tile.showSize(tile === large, this.#isOthers);
    arrange(tiles, this.#tiles.all, this.#large !== null);
    arrange(screens, this.#screens.all);
  }
}

function arrange(list: HTMLElement, shown: readonly Shown[], isSpotlight = false): void {
  const { clientWidth, clientHeight } = list;
  const gap = Number.parseFloat(getComputedStyle(list).columnGap) || 0;
  const area = { count: shown.length, width: clientWidth, height: clientHeight, gap };
  const { large, small } = isSpotlight ? spotlightFor(area) : { large: null, small: gridFor(area) };
  list.style.setProperty('--tile-width', `${small.width}px`);
  list.style.setProperty('--tile-height', `${small.height}px`);
  list.style.setProperty('--large-width', `${large?.width ?? 0}px`);
  list.style.setProperty('--large-height', `${large?.height ?? 0}px`);
}
