/** The grid for one to eight members, on every screen: no tile is cut off, covered or too small, and the space is used. */
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { gridFor } from '../../client-demo/src/call/layout.ts';
import { type Client, connect } from '../../src/client/index.ts';
import { type Caller, type Harness, openHarness } from './harness.ts';

interface Screen {
  readonly name: string;
  readonly width: number;
  readonly height: number;
  /** The shorter side of a tile, at least, with eight people. */
  readonly least: number;
}

const SCREENS: readonly Screen[] = [
  { name: 'a small phone', width: 320, height: 568, least: 88 },
  { name: 'a phone', width: 360, height: 740, least: 120 },
  { name: 'a phone on its side', width: 740, height: 360, least: 88 },
  { name: 'a tablet', width: 820, height: 1180, least: 240 },
  { name: 'a desk', width: 1280, height: 800, least: 240 },
];

const PATIENCE = { timeout: 30_000 };

let harness: Harness;
let ada: Caller;
let code: string;
const guests: Client[] = [];

beforeAll(async () => {
  harness = await openHarness();
  ada = await harness.caller({ name: 'Ada' });
  code = await ada.create();
});

afterAll(async () => {
  await Promise.all(guests.map((guest) => guest.close()));
  await harness?.[Symbol.asyncDispose]();
});

describe('every tile is visible with', () => {
  for (let people = 1; people <= 8; people += 1) {
    test(`${people} members in a room`, async () => {
      if (people > 1) await guest(people);
      for (const screen of SCREENS) {
        const { tiles, stage: area } = await look(screen, people);
        const where = `${people} on ${screen.name}`;
        for (const tile of tiles) {
          expect(isInside(tile, area), `${where}: inside`).toBe(true);
          // The fewer there are, the larger they must be; alone, the invitation has its place too.
          expect(Math.min(tile.width, tile.height), where).toBeGreaterThanOrEqual(screen.least);
        }
        expect(overlaps(tiles), `${where}: apart`).toEqual([]);
        const used = tiles.reduce((sum, { width, height }) => sum + width * height, 0) / (area.width * area.height);
        if (people > 1) expect(used, `${where}: put to use`).toBeGreaterThan(0.6);
      }
    });
  }

  test('a shared screen beside them', async () => {
    await guests.pop()?.close();
    const bob = await harness.caller({ name: 'Bob' });
    await bob.type(code);
    await bob.press('Join');
    await bob.see('#call');
    await bob.press('Share your screen');
    await ada.see('.screen');
    for (const screen of SCREENS) {
      const { tiles, screens } = await look(screen, 8);
      const where = `a shared screen on ${screen.name}`;
      const [shared] = screens;
      expect(screens, where).toHaveLength(1);
      expect(overlaps([...tiles, ...screens]), `${where}: apart`).toEqual([]);
      for (const tile of tiles) {
        expect(area(shared), where).toBeGreaterThan(3 * area(tile));
        expect(Math.min(tile.width, tile.height), where).toBeGreaterThanOrEqual(44);
      }
    }
    await bob.press('Stop sharing your screen');
    await expect.poll(() => ada.page.locator('.screen').count(), PATIENCE).toBe(0);
  });
});

test('tiles fit into an area of any size', () => {
  for (const count of [1, 2, 3, 5, 8, 13, 40]) {
    for (const [width, height] of [
      [300, 900],
      [900, 300],
      [500, 500],
      [10, 10],
      [0, 0],
    ] as const) {
      const grid = gridFor({ count, width, height, gap: 12 });
      const rows = Math.ceil(count / grid.columns);
      expect(grid.columns * grid.width + 12 * (grid.columns - 1)).toBeLessThanOrEqual(
        Math.max(width, 12 * (grid.columns - 1)),
      );
      expect(rows * grid.height + 12 * (rows - 1)).toBeLessThanOrEqual(Math.max(height, 12 * (rows - 1)));
    }
  }
});

/** Somebody without a browser: what is looked at is where they are, not what they look like. */
async function guest(number: number): Promise<void> {
  const client = connect(harness.server.url, { name: `Guest number ${number}`, store: null });
  guests.push(client);
  await client.join(code);
}

interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

interface Sight {
  readonly stage: Box;
  readonly tiles: Box[];
  readonly screens: Box[];
}

async function look({ width, height }: Screen, people: number): Promise<Sight> {
  await ada.page.setViewportSize({ width, height });
  await expect.poll(() => ada.page.locator('.tile').count(), PATIENCE).toBe(people);
  await settled(ada.page);
  return ada.page.evaluate<Sight>(`(() => {
    const box = (element) => {
      const { x, y, width, height } = element.getBoundingClientRect();
      return { x, y, width, height };
    };
    const boxes = (selector) => [...document.querySelectorAll(selector)].map(box);
    return { stage: box(document.querySelector('#stage')), tiles: boxes('.tile'), screens: boxes('.screen') };
  })()`);
}

/** The tiles are arranged when the browser has told of the new size, which it does with the next picture. */
const settled = (page: Page): Promise<unknown> =>
  page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))');

const area = (box: Box | undefined): number => (box === undefined ? 0 : box.width * box.height);

const isInside = (box: Box, frame: Box): boolean =>
  box.x >= frame.x - 1 &&
  box.y >= frame.y - 1 &&
  box.x + box.width <= frame.x + frame.width + 1 &&
  box.y + box.height <= frame.y + frame.height + 1;

const overlaps = (boxes: readonly Box[]): string[] =>
  boxes.flatMap((one, index) =>
    boxes
      .slice(index + 1)
      .filter(
        (other) =>
          one.x < other.x + other.width - 0.5 &&
          other.x < one.x + one.width - 0.5 &&
          one.y < other.y + other.height - 0.5 &&
          other.y < one.y + one.height - 0.5,
      )
      .map((other) => `${JSON.stringify(one)} and ${JSON.stringify(other)}`),
  );
