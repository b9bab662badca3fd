/**
 * The pictures of the documentation. One that is there is left alone, so that a test run changes no file: delete it to
 * have it taken again.
 */
import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';
import type { Caller } from './harness.ts';

const folder = fileURLToPath(new URL('../../docs/images/', import.meta.url));

/** @param name of the file, without its ending. */
export async function takeScreenshot({ page }: Caller, name: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  const path = `${folder}${name}.png`;
  // What has been remarked is gone again after a moment, and no part of the view.
  await page.locator('#remark').waitFor({ state: 'hidden' });
  await page.evaluate('document.activeElement.blur()');
  const image = await page.screenshot({ animations: 'disabled', ...(!existsSync(path) && { path }) });
  expect(image.byteLength).toBeGreaterThan(0);
}
