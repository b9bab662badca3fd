/** A whole call by keyboard: every step is reached by Tab and done by Enter, and the focus is visible. */
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { type Caller, openHarness } from './harness.ts';

test('a host creates a room, copies the link, writes, removes a member and leaves by keyboard', async () => {
  await using harness = await openHarness();
  const ada = await harness.caller();
  const { page } = ada;
  expect(await focused(page)).toBe('lobby-heading');
  await tabTo(page, '#lobby-name');
  await page.keyboard.type('Ada');
  await tabTo(page, '#lobby-create');
  await page.keyboard.press('Enter');
  await ada.see('#call');
  expect(await focused(page)).toBe('call-heading');

  await tabTo(page, '#call-copy');
  await page.keyboard.press('Enter');
  await ada.read(/^Link copied\./);
  const code = (await page.locator('#call-code').textContent()) ?? '';
  await tabTo(page, '#call-invite');
  await page.keyboard.press('Enter');
  await ada.see('#invite-dialog');
  await tabTo(page, '#invite-dialog [data-part="copy"]');
  await page.keyboard.press('Escape');
  expect(await focused(page)).toBe('call-invite');

  const bob = await harness.caller({ name: 'Bob' });
  await bob.type(code);
  await bob.join();
  await tabTo(page, '#call-chat');
  await page.keyboard.press('Enter');
  expect(await focused(page)).toBe('chat-text');
  await page.keyboard.type('Hello, Bob');
  await page.keyboard.press('Enter');
  await bob.read('Ada: Hello, Bob');
  await page.keyboard.press('Escape');
  expect(await focused(page)).toBe('call-chat');

  await tabTo(page, '#call-people');
  await page.keyboard.press('Enter');
  expect(await focused(page)).toBe('people-heading');
  await tabTo(page, '[aria-label="Remove Bob"]');
  await page.keyboard.press('Enter');
  await ada.read('Remove Bob from the room?');
  await tabTo(page, '#confirm-yes');
  await page.keyboard.press('Enter');
  await bob.see('#ended');
  expect(await focused(bob.page)).toBe('ended-heading');
  // The button went with him.
  await expect.poll(() => focused(page)).toBe('people-heading');

  await tabTo(page, '#call-leave');
  await page.keyboard.press('Enter');
  await ada.see('#lobby');
  expect(await focused(page)).toBe('lobby-heading');
});

test('an invited user joins with Enter alone', async () => {
  await using harness = await openHarness();
  const ada = await harness.caller({ name: 'Ada' });
  const code = (await ada.create()).replace(' ', '');
  const bob = await harness.caller({ hash: `#${code}` });
  expect(await focused(bob.page)).toBe('lobby-join');
  await bob.page.keyboard.press('Enter');
  await bob.see('#call');
});

test('an error is shown at the focused field', async () => {
  await using harness = await openHarness();
  const ada: Caller = await harness.caller();
  await tabTo(ada.page, '#lobby-join');
  await ada.page.keyboard.press('Enter');
  await ada.read('A room code has 6 digits');
  expect(await focused(ada.page)).toBe('lobby-code');
});

const focused = (page: Page): Promise<string> => page.evaluate<string>('document.activeElement.id');

/** Presses Tab until it is there; everything on the way shows that it has the focus. */
async function tabTo(page: Page, selector: string): Promise<void> {
  for (let step = 0; step < 60; step += 1) {
    await page.keyboard.press('Tab');
    const seen = await page.evaluate<{ isThere: boolean; isShown: boolean; what: string }>(`(() => {
      const element = document.activeElement;
      const drawn = element.id === 'lobby-code' ? document.querySelector('.code-box:not([data-caret="none"])') : element;
      const { outlineStyle, outlineWidth, boxShadow } = getComputedStyle(drawn);
      return {
        isThere: element.matches(${JSON.stringify(selector)}),
        isShown: (outlineStyle !== 'none' && parseFloat(outlineWidth) >= 2) || boxShadow !== 'none',
        what: element.tagName + '#' + element.id + '.' + element.className,
      };
    })()`);
    // Between the last element and the first the browser's own buttons have it.
    if (seen.what.startsWith('BODY')) continue;
    expect(seen.isShown, `${seen.what} shows the focus`).toBe(true);
    if (seen.isThere) return;
  }
  throw new Error(`${selector} is not reached by Tab`);
}
