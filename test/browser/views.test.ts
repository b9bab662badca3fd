/** Every view, on phone and desktop, light and dark: no accessibility rule is broken, nothing overflows at 320 px. */
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { violations } from './axe.ts';
import { type Caller, openHarness } from './harness.ts';

const SIZES = [
  { width: 1280, height: 800 },
  { width: 390, height: 780 },
] as const;
const NARROW = { width: 320, height: 568 };
const LONG_NAME = 'A name that is as long as a name may be, to see where it ends';

test('every view before, in and after a call is accessible and fits', async () => {
  await using harness = await openHarness();
  const ada = await harness.caller({ name: LONG_NAME });
  await isFine(ada, 'lobby');
  await ada.type('12');
  await ada.press('Join');
  await ada.read('A room code has 6 digits');
  await isFine(ada, 'lobby with an error');

  await ada.create();
  await isFine(ada, 'call, alone');
  const bob = await harness.caller({ name: 'Bob', camera: 'denied' });
  await isFine(bob, 'lobby without a camera');
  await bob.type((await ada.page.locator('#call-code').textContent()) ?? '');
  await bob.press('Join');
  await Promise.all([bob.hasMedia(1), ada.see('.tile .bars[data-grade="3"]')]);
  await isFine(ada, 'call');
  await isFine(bob, 'call without a camera');

  await ada.open('people');
  await isFine(ada, 'people, as the host');
  await bob.open('people');
  await isFine(bob, 'people, as a guest');
  await ada.say('A word that is long: Donaudampfschifffahrtsgesellschaftskapitänsmützenabzeichen');
  await bob.say('https://example.org/a/link/that/is/longer/than/any/line/can/ever/be/on/this/page/of/ours');
  await ada.read('https://example.org');
  await isFine(ada, 'chat');

  await ada.page.locator('#call-invite').click();
  await isFine(ada, 'invitation');
  await ada.page.keyboard.press('Escape');
  await ada.page.locator('#call-devices').click();
  await isFine(ada, 'devices');
  await ada.page.keyboard.press('Escape');
  await bob.page.locator('#call-screen').click();
  await ada.see('.screen');
  await isFine(ada, 'a screen');
  await isFine(bob, 'sharing a screen');

  await ada.open('people');
  await ada.press('Remove Bob');
  await isFine(ada, 'a question');
  await ada.page.locator('#confirm-yes').click();
  await bob.see('#ended');
  await isFine(bob, 'the end');
  expect([...ada.person.complaints, ...bob.person.complaints]).toEqual([]);
}, 300_000);

async function isFine({ page }: Caller, view: string): Promise<void> {
  const faults: string[] = [];
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    for (const size of SIZES) {
      await page.setViewportSize(size);
      // Another colour scheme is other colours, and nothing else.
      const found = await violations(page, ...(colorScheme === 'dark' ? ['color-contrast'] : []));
      faults.push(...found.map((fault) => `${colorScheme}, ${size.width} px: ${fault}`));
    }
  }
  await page.setViewportSize(NARROW);
  faults.push(...(await sticksOut(page)).map((element) => `sticks out at ${NARROW.width} px: ${element}`));
  await page.setViewportSize(SIZES[0]);
  expect.soft(faults, view).toEqual([]);
}

/** What is wider than the window, or beyond its edge. */
const sticksOut = (page: Page): Promise<string[]> =>
  page.evaluate<string[]>(`(() => {
    const { scrollWidth, clientWidth } = document.documentElement;
    const beyond = [...document.querySelectorAll('main:not([hidden]) *, dialog[open] *')].filter((element) => {
      const { left, right, width, height } = element.getBoundingClientRect();
      const isSeen = width > 1 && height > 1 && element.checkVisibility({ visibilityProperty: true });
      return isSeen && !element.closest('video, svg, input') && (left < -0.5 || right > clientWidth + 0.5);
    });
    return [
      ...(scrollWidth > clientWidth ? ['the page: ' + scrollWidth] : []),
      ...beyond.map((element) => element.tagName + '#' + element.id + '.' + element.className),
    ];
  })()`);
