/** A clicked tile is enlarged, the others are in a row below it; the keyboard does the same. */
import { expect, test } from 'vitest';
import { connect } from '../../src/client/index.ts';
import { type Caller, openHarness } from './harness.ts';

test.each([
  [1280, 800],
  [360, 740],
])('a tile is enlarged and made as large as the others again: %i x %i', async (width, height) => {
  await using harness = await openHarness();
  const ada = await harness.caller({ name: 'Ada', width, height });
  const code = await ada.create();
  // Alone there is nothing to be larger than.
  expect(await ada.page.getByRole('button', { name: 'Enlarge Ada' }).count()).toBe(0);
  const others = ['Bob', 'Cleo', 'Dan'].map((name) => connect(harness.server.url, { name, store: null }));
  for (const other of others) await other.join(code);
  await ada.see('.tile >> nth=3');

  const bob = ada.page.locator('.tile', { hasText: 'Bob' });
  await bob.click();
  expect(await bob.getAttribute('data-large')).toBe('true');
  const [large, ...small] = await boxes(ada);
  const row = new Set(small.map(({ y }) => y));
  expect(row.size).toBe(1);
  expect(small).toHaveLength(3);
  for (const one of small) {
    expect(one.y).toBeGreaterThanOrEqual((large?.y ?? 0) + (large?.height ?? 0));
    expect(one.width * one.height).toBeLessThan(((large?.width ?? 0) * (large?.height ?? 0)) / 3);
  }
  const room = await ada.page.locator('#stage').boundingBox();
  const bottom = Math.max(...small.map((one) => one.y + one.height));
  expect(bottom).toBeLessThanOrEqual((room?.y ?? 0) + (room?.height ?? 0) + 1);

  await ada.page.getByRole('button', { name: 'Enlarge Cleo' }).focus();
  await ada.page.keyboard.press('Enter');
  expect(await ada.page.locator('.tile[data-large="true"]').textContent()).toContain('Cleo');
  await ada.page.getByRole('button', { name: 'Make Cleo smaller' }).press('Enter');
  expect(await ada.page.locator('.tile[data-large="true"]').count()).toBe(0);

  await bob.click();
  // Whoever goes takes it along.
  await others[0]?.close();
  await expect.poll(() => ada.page.locator('.tile[data-large="true"]').count()).toBe(0);
  await Promise.all(others.map((other) => other.close()));
});

interface Box {
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** The large one first. */
const boxes = (caller: Caller): Promise<Box[]> =>
  caller.page.evaluate<Box[]>(`[...document.querySelectorAll('.tile')]
    .sort((a, b) => (b.dataset.large === 'true') - (a.dataset.large === 'true'))
    .map((tile) => {
      for (const animation of tile.getAnimations()) animation.finish();
      const { y, width, height } = tile.getBoundingClientRect();
      return { y, width, height };
    })`);
