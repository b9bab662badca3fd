/**
 * Four people in one room, at every size and in both colour schemes; the pictures of the documentation are taken of
 * them. One that is there is left alone, so that a test run changes no file: delete it to have it taken again.
 */
import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import type { PersonOptions } from '../support/browser.ts';
import { type Caller, openStage } from './caller.ts';

const folder = fileURLToPath(new URL('../../docs/images/', import.meta.url));

const DESKTOP = { width: 1280, height: 800 };
const PHONE = { width: 390, height: 780 };
const NAMES = ['Mira Holm', 'Samuel Adeyemi', 'Lena Fischer', 'Arjun Rao'];
const views: readonly (readonly [string, PersonOptions])[] = [
  ['desktop-light', { ...DESKTOP, colorScheme: 'light' }],
  ['desktop-dark', { ...DESKTOP, colorScheme: 'dark' }],
  ['phone-light', { ...PHONE, colorScheme: 'light' }],
  ['phone-dark', { ...PHONE, colorScheme: 'dark' }],
];

test('four meet: everyone sees the three others, whoever came when', async () => {
  await mkdir(folder, { recursive: true });
  await using stage = await openStage();
  const people = await Promise.all(
    views.map(async ([view, options], index) => {
      const name = NAMES[index] ?? '';
      return { view, caller: await stage.caller({ ...options, name, script: portrait(index) }) };
    }),
  );
  const callers = people.map(({ caller }) => caller);
  for (const { view, caller } of people) await picture(caller, `lobby-${view}`);

  const [first, ...others] = callers;
  const code = (await first?.create()) ?? '';
  for (const caller of others) await caller.type(code);
  // At the same moment: nobody knows beforehand who will be later than whom.
  await Promise.all(others.map((caller) => caller.press('Join')));
  await Promise.all(callers.map((caller) => caller.hasMedia(3)));
  await first?.page.getByLabel('Message').fill('Can you all hear me?');
  await first?.press('Send');
  await Promise.all(others.map((caller) => caller.tells('Can you all hear me?')));
  for (const { view, caller } of people) await picture(caller, `call-${view}`);

  await others[1]?.page.reload();
  await first?.tells(`${NAMES[2]} is back`);
  await Promise.all(callers.map((caller) => caller.hasMedia(3)));
  expect(callers.flatMap(({ person }) => person.complaints)).toEqual([]);
}, 180_000);

test('nothing sticks out at 320 pixels', async () => {
  await using stage = await openStage();
  const caller = await stage.caller({
    width: 320,
    height: 568,
    name: 'A name that is as long as a name may be, to see where it ends',
  });
  await fits(caller);
  await caller.create();
  await fits(caller);
  await caller.press('Chat and people');
  await fits(caller);
});

async function picture(caller: Caller, name: string): Promise<void> {
  await fits(caller);
  const path = `${folder}${name}.png`;
  const image = await caller.page.screenshot({ animations: 'disabled', ...(!existsSync(path) && { path }) });
  expect(image.byteLength).toBeGreaterThan(0);
}

async function fits({ page }: Caller): Promise<void> {
  const [content, window] = await page.evaluate<[number, number]>(
    '[document.documentElement.scrollWidth, document.documentElement.clientWidth]',
  );
  expect(content).toBeLessThanOrEqual(window);
}

/** Somebody before a wall, instead of the fake camera's test pattern; few and small pictures, for twelve streams at once. */
function portrait(index: number): string {
  const [wall, coat, skin] = [
    ['#dbe7e2', '#2f6f5b', '#e8b999'],
    ['#e7dfd3', '#34527a', '#8d5a3c'],
    ['#d9dfe9', '#7a3f52', '#f0c9a8'],
    ['#e3e6d6', '#4a4f59', '#c98f66'],
  ][index % 4] ?? ['', '', ''];
  return `
    const canvas = Object.assign(document.createElement('canvas'), { width: 480, height: 360 });
    const context = canvas.getContext('2d');
    context.scale(0.75, 0.75);
    const blob = (colour, x, y, width, height) => {
      context.fillStyle = colour;
      context.beginPath();
      context.ellipse(x, y, width, height, 0, 0, 2 * Math.PI);
      context.fill();
    };
    setInterval(() => {
      const sway = 4 * Math.sin(performance.now() / 700);
      context.fillStyle = '${wall}';
      context.fillRect(0, 0, 640, 480);
      context.fillStyle = 'rgb(255 255 255 / 45%)';
      context.fillRect(430, 40, 150, 210);
      blob('${coat}', 320 + sway, 500, 190, 170);
      blob('${skin}', 320 + sway, 330, 45, 70);
      blob('#2b211c', 320 + sway, 190, 108, 118);
      blob('${skin}', 320 + sway, 215, 88, 110);
      blob('#2b211c', 288 + sway, 205, 8, 9);
      blob('#2b211c', 352 + sway, 205, 8, 9);
      blob('#a5594c', 320 + sway, 270, 24, 7);
    }, 200);
    if (navigator.mediaDevices) {
      const real = navigator.mediaDevices.getUserMedia.bind(navigator.mediaDevices);
      navigator.mediaDevices.getUserMedia = async (wishes) =>
        new MediaStream([
          ...(wishes.audio ? (await real({ audio: true })).getTracks() : []),
          ...(wishes.video ? canvas.captureStream(5).getTracks() : []),
        ]);
    }`;
}
