/**
 * Computes the largest tile size at which all tiles fit. Every number of columns is tried, and the one with the largest
 * faces is chosen: a face is about as wide as a tile is high, so the shorter side counts.
 */

export interface Area {
  readonly count: number;
  readonly width: number;
  readonly height: number;
  readonly gap: number;
}

export interface Grid {
  readonly columns: number;
  readonly width: number;
  readonly height: number;
}

/** Limits of width / height. A tile outside of them crops too much of the video. */
const WIDEST = 16 / 9;
const NARROWEST = 3 / 4;
/** Portrait: a phone, whose camera is in portrait format, too. */
const NARROWEST_UPRIGHT = 9 / 16;

export function gridFor({ count, width, height, gap }: Area): Grid {
  const narrowest = height > width ? NARROWEST_UPRIGHT : NARROWEST;
  const grids = Array.from({ length: Math.max(1, count) }, (_, index) => {
    const columns = index + 1;
    const rows = Math.ceil(count / columns) || 1;
    const cell = { width: (width - gap * (columns - 1)) / columns, height: (height - gap * (rows - 1)) / rows };
    return {
      columns,
      width: Math.max(0, Math.floor(Math.min(cell.width, cell.height * WIDEST))),
      height: Math.max(0, Math.floor(Math.min(cell.height, cell.width / narrowest))),
    };
  });
  return grids.reduce((best, grid) => (worth(grid) > worth(best) ? grid : best));
}

export interface Size {
  readonly width: number;
  readonly height: number;
}

/** One large tile, the others in a row below it. */
export function spotlightFor({ count, width, height, gap }: Area): { readonly large: Size; readonly small: Size } {
  const others = Math.max(1, count - 1);
  const widest = (width - gap * (others - 1)) / others;
  const smallHeight = Math.floor(Math.max(0, Math.min(height / 4, 140, widest / NARROWEST)));
  const smallWidth = Math.floor(Math.max(0, Math.min(widest, smallHeight * WIDEST)));
  const largeHeight = Math.max(0, Math.floor(height - smallHeight - gap));
  return {
    large: {
      width: Math.floor(Math.min(width, largeHeight * WIDEST)),
      height: Math.floor(Math.min(largeHeight, width / NARROWEST_UPRIGHT)),
    },
    small: { width: smallWidth, height: smallHeight },
  };
}

/** Between two with equally large faces, the one that uses more of the area. */
const worth = ({ width, height }: Grid): number => Math.min(width, height) + Math.sqrt(width * height) / 4;
