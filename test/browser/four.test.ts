/** Rooms of four and six people, at several sizes and in both colour schemes, with the screenshots of the docs. */
import { expect, test } from 'vitest';
import type { PersonOptions } from '../support/browser.ts';
import { drawnCamera } from './drawn-camera.ts';
import { type Caller, openHarness } from './harness.ts';
import { takeScreenshot } from './screenshot.ts';
import { openSimulatedMembers } from './simulated-members.ts';

const DESKTOP = { width: 1280, height: 800 };
const PHONE = { width: 390, height: 780 };
const NAMES = ['Mira Holm', 'Samuel Adeyemi', 'Lena Fischer', 'Arjun Rao', 'Clara Lindqvist', 'Tunde Okafor'];
const views: readonly (readonly [string, PersonOptions])[] = [
  ['desktop-light', { ...DESKTOP, colorScheme: 'light' }],
  ['desktop-dark', { ...DESKTOP, colorScheme: 'dark' }],
  ['phone-light', { ...PHONE, colorScheme: 'light' }],
  ['phone-dark', { ...PHONE, colorScheme: 'dark' }],
];

test('each of four members sees the three others, in whatever order they joined', async () => {
  await using harness = await openHarness();
  const people = await Promise.all(
    views.map(async ([view, options], index) => {
      const name = NAMES[index] ?? '';
      return { view, caller: await harness.caller({ ...options, name, script: drawnCamera(index) }) };
    }),
  );
  const callers = people.map(({ caller }) => caller);
  for (const { view, caller } of people) await takeScreenshot(caller, `lobby-${view}`);

  const [first, ...others] = callers;
  const code = (await first?.create()) ?? '';
  for (const caller of others) await caller.type(code);
  // At the same moment: nobody knows beforehand who will be later than whom.
  await Promise.all(others.map((caller) => caller.press('Join')));
  await Promise.all(callers.map((caller) => caller.hasMedia(3)));
  await Promise.all(
    callers.map((caller) => caller.until((peers) => peers.every(({ canSend }) => canSend), 'channels')),
  );
  await first?.say('Can you all hear me?');
  await Promise.all(others.map((caller) => caller.tells('Can you all hear me?')));
  await others[0]?.say('Loud and clear. Shall I share the plan?');
  await first?.read('Shall I share the plan?');
  await others[0]?.open('people');
  await Promise.all(callers.map((caller) => measured(caller, 3)));
  for (const { view, caller } of people) await takeScreenshot(caller, `call-${view}`);

  await others[1]?.page.reload();
  await first?.tells(`${NAMES[2]} is back`);
  await Promise.all(callers.map((caller) => caller.hasMedia(3)));
  expect(callers.flatMap(({ person }) => person.complaints)).toEqual([]);
}, 180_000);

test('six members fit on a desktop and on a phone', async () => {
  await using harness = await openHarness();
  const mira = await harness.caller({ ...DESKTOP, name: NAMES[0] ?? '', script: drawnCamera(0) });
  const samuel = await harness.caller({ ...PHONE, colorScheme: 'dark', name: NAMES[1] ?? '', script: drawnCamera(1) });
  const code = await mira.create();
  await takeScreenshot(mira, 'alone-desktop-light');
  await samuel.type(code);
  await samuel.join();
  const members = await openSimulatedMembers(harness, code, [mira, samuel]);
  await members.join(NAMES.slice(2));
  await Promise.all([mira.hasMedia(5), samuel.hasMedia(5)]);
  await Promise.all([mira, samuel].map((caller) => measured(caller, 5)));
  await takeScreenshot(mira, 'six-desktop-light');
  await takeScreenshot(samuel, 'six-phone-dark');
  await mira.press('Invite people');
  await takeScreenshot(mira, 'invite-desktop-light');
});

test('a call in Chinese is shown in Chinese', async () => {
  await using harness = await openHarness();
  const lin = await harness.caller({ ...PHONE, locale: 'zh-CN', name: '林晓', script: drawnCamera(7) });
  await takeScreenshot(lin, 'chinese-phone-light');
  const code = await lin.create();
  const wei = await harness.caller({
    ...DESKTOP,
    colorScheme: 'dark',
    locale: 'zh-CN',
    name: '王伟',
    script: drawnCamera(3),
  });
  await wei.type(code);
  await wei.join();
  await wei.open('people');
  await measured(wei, 1);
  // A browser begins with a coarse picture, and sends a finer one when it knows that it arrives.
  const seconds = () => wei.page.evaluate('document.querySelector(".tile[data-own=false] video").currentTime');
  await expect.poll(seconds, { timeout: 30_000 }).toBeGreaterThan(8);
  await takeScreenshot(wei, 'chinese-desktop-dark');
});

/** How well so many others are reached is on the screen. */
async function measured({ page }: Caller, others: number): Promise<void> {
  const bars = page.locator('.tile .bars:is([data-grade="2"], [data-grade="3"])');
  await expect.poll(() => bars.count(), { timeout: 30_000 }).toBe(others);
}
