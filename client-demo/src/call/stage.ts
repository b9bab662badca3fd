/** Everybody's picture, as large as fits; what somebody shares comes first, the cameras beside or below it. */

import { part } from '../base/elements.ts';
import { Keyed, type Shown } from '../base/keyed.ts';
import { gridFor } from './layout.ts';
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
    for (const one of parts) this.#tiles.get(keyOf(one), () => new Tile(one.isOwn, this.#sound)).show(one);
    for (const one of shared) this.#screens.get(keyOf(one), () => new ScreenTile(this.#sound)).show(one);
    screens.hidden = shared.length === 0;
    stage.dataset['screens'] = String(shared.length > 0);
    stage.dataset['alone'] = String(parts.length === 1);
    this.#arrange();
  }

  clear(): void {
    this.#tiles.keep([]);
    this.#screens.keep([]);
  }

  /** Must be called from a click. */
  async unmute(): Promise<void> {
    await Promise.allSettled([...this.#tiles.all, ...this.#screens.all].map(({ player }) => player.unmute()));
  }

  #arrange(): void {
    arrange(tiles, this.#tiles.all);
    arrange(screens, this.#screens.all);
  }
}

function arrange(list: HTMLElement, shown: readonly Shown[]): void {
  const { clientWidth, clientHeight } = list;
  const gap = Number.parseFloat(getComputedStyle(list).columnGap) || 0;
  const grid = gridFor({ count: shown.length, width: clientWidth, height: clientHeight, gap });
  list.style.setProperty('--tile-width', `${grid.width}px`);
  list.style.setProperty('--tile-height', `${grid.height}px`);
}
