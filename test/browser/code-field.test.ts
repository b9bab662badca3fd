/** The field for the room code: typing, pasting, correcting, input methods, screen readers. */
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type Caller, type Harness, openHarness } from './harness.ts';

let harness: Harness;
let ada: Caller;
let page: Page;

beforeAll(async () => {
  harness = await openHarness();
  ada = await harness.caller();
  ({ page } = ada);
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
});

afterAll(async () => {
  await harness?.[Symbol.asyncDispose]();
});

beforeEach(async () => {
  await ada.type('');
  await page.locator('#lobby-code').focus();
});

test('a digit goes into the next box, and other characters are ignored', async () => {
  await page.keyboard.type('4a8-2 9x');
  expect(await boxes()).toBe('4829__');
  await page.keyboard.type('137');
  // A seventh has no box.
  expect(await boxes()).toBe('482913');
});

test('a hint says that letters are no part of a code, until a digit is typed', async () => {
  await page.keyboard.type('4a');
  expect(await page.locator('#lobby-error').textContent()).toBe('A room code has digits only.');
  await page.keyboard.type('8');
  expect(await page.locator('#lobby-error').textContent()).toBe('');
});

test('arrow keys and the mouse choose a box, and a digit replaces the one in it', async () => {
  await page.keyboard.type('482913');
  await page.keyboard.press('ArrowLeft');
  await page.keyboard.press('ArrowLeft');
  expect(await caretBox()).toBe(4);
  await page.keyboard.type('7');
  expect(await boxes()).toBe('482973');
  expect(await caretBox()).toBe(5);
  await page.keyboard.press('Home');
  await page.keyboard.type('55');
  expect(await boxes()).toBe('552973');
  await page.locator('.code-box').nth(2).click({ force: true });
  await page.keyboard.type('0');
  expect(await boxes()).toBe('550973');
});

test('backspace, delete and typing over a selection change the boxes they cover', async () => {
  await page.keyboard.type('482913');
  await page.keyboard.press('Backspace');
  await page.keyboard.press('Backspace');
  expect(await boxes()).toBe('4829__');
  await page.keyboard.press('Home');
  await page.keyboard.press('Delete');
  expect(await boxes()).toBe('829___');
  await page.keyboard.press('ControlOrMeta+a');
  expect(await page.locator('.code-box[data-selected="true"]').count()).toBe(3);
  await page.keyboard.type('6');
  expect(await boxes()).toBe('6_____');
});

test.each([
  ['full width', '４８２９１３'],
  ['Arabic-Indic', '٤٨٢٩١٣'],
  ['Persian', '۴۸۲۹۱۳'],
  ['Devanagari', '४८२९१३'],
  ['with spaces', ' 482 913 '],
  ['with a dash', '482-913'],
  ['a link', 'https://meet.example.org/room/#482913'],
  ['a link with digits of its own', 'http://localhost:30001/v2/#482913'],
  ['a message around it', 'Come to room 482 913, we begin at 9:30.'],
])('pasted text fills the boxes: %s', async (_, text) => {
  await page.keyboard.type('77');
  await page.evaluate(`navigator.clipboard.writeText(${JSON.stringify(text)})`);
  await page.keyboard.press('ControlOrMeta+v');
  expect(await boxes()).toBe('482913');
  expect(await page.locator('#lobby-code').inputValue()).toBe('482913');
});

test('unfinished input of an input method is shown, and cleaned when it is finished', async () => {
  const keyboard = await page.context().newCDPSession(page);
  await keyboard.send('Input.imeSetComposition', { text: '４８', selectionStart: 2, selectionEnd: 2 });
  expect(await boxes()).toBe('48____');
  await keyboard.send('Input.insertText', { text: '４８２９１３' });
  expect(await boxes()).toBe('482913');
  expect(await page.locator('#lobby-code').inputValue()).toBe('482913');
});

test('a complete code that begins with 0 is reported as invalid', async () => {
  await page.keyboard.type('012345');
  await ada.read('Room codes never begin with 0. Check the first digit, or ask for the code again.');
  await page.keyboard.press('Enter');
  await ada.read('Room codes never begin with 0');
  await page.keyboard.press('Home');
  await page.keyboard.type('9');
  expect(await page.locator('#lobby-error').textContent()).toBe('');
});

test('the boxes are one field for screen readers and phones', async () => {
  const field = page.getByRole('textbox', { name: 'Room code' });
  expect(await field.getAttribute('inputmode')).toBe('numeric');
  expect(await field.getAttribute('autocomplete')).toBe('one-time-code');
  await page.keyboard.type('12');
  await page.keyboard.press('Enter');
  expect(await field.getAttribute('aria-invalid')).toBe('true');
  const described = await field.evaluate((input) =>
    // Which elements describe it is for the page to say.
    (input.getAttribute('aria-describedby') ?? '').split(' ').map((id) => document.getElementById(id)?.textContent),
  );
  expect(described).toContain('A room code has 6 digits. Check what you typed.');
});

test('the field has as many boxes as the codes of the server have digits', async () => {
  await using long = await openHarness({ codeDigits: 8 });
  const bob = await long.caller();
  await expect.poll(() => bob.page.locator('.code-box').count()).toBe(8);
  const code = await bob.create();
  expect(code).toMatch(/^[1-9]\d{3} \d{4}$/);
});

/** What is in them, an empty one as `_`. */
const boxes = async (): Promise<string> =>
  (await page.locator('.code-box').allTextContents()).map((digit) => digit || '_').join('');

const caretBox = (): Promise<number> =>
  page.evaluate<number>('[...document.querySelectorAll(".code-box")].findIndex((box) => box.dataset.caret !== "none")');
