/** Four people in one room, at every size and in both colour schemes; and more of them, in pictures. */
import { expect, test } from 'vitest';
import type { PersonOptions } from '../support/browser.ts';
import { type Caller, openStage } from './caller.ts';
import { openExtras } from './extras.ts';
import { picture } from './picture.ts';
import { portrait } from './portrait.ts';

const DESKTOP = { width: 1280, height: 800 };
const PHONE = { width: 390, height: 780 };
const NAMES = ['Mira Holm', 'Samuel Adeyemi', 'Lena Fischer', 'Arjun Rao', 'Clara Lindqvist', 'Tunde Okafor'];
const views: readonly (readonly [string, PersonOptions])[] = [
  ['desktop-light', { ...DESKTOP, colorScheme: 'light' }],
  ['desktop-dark', { ...DESKTOP, colorScheme: 'dark' }],
  ['phone-light', { ...PHONE, colorScheme: 'light' }],
  ['phone-dark', { ...PHONE, colorScheme: 'dark' }],
];

test('four meet: everyone sees the three others, whoever came when', async () => {
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
  await Promise.all(
    callers.map((caller) => caller.until((peers) => peers.every(({ canSend }) => canSend), 'channels')),
  );
  await first?.say('Can you all hear me?');
  await Promise.all(others.map((caller) => caller.tells('Can you all hear me?')));
  await others[0]?.say('Loud and clear. Shall I share the plan?');
  await first?.read('Shall I share the plan?');
  await others[0]?.open('people');
  await Promise.all(callers.map((caller) => measured(caller, 3)));
  for (const { view, caller } of people) await picture(caller, `call-${view}`);

  await others[1]?.page.reload();
  await first?.tells(`${NAMES[2]} is back`);
  await Promise.all(callers.map((caller) => caller.hasMedia(3)));
  expect(callers.flatMap(({ person }) => person.complaints)).toEqual([]);
}, 180_000);

test('six, on a desk and on a phone', async () => {
  await using stage = await openStage();
  const mira = await stage.caller({ ...DESKTOP, name: NAMES[0] ?? '', script: portrait(0) });
  const samuel = await stage.caller({ ...PHONE, colorScheme: 'dark', name: NAMES[1] ?? '', script: portrait(1) });
  const code = await mira.create();
  await picture(mira, 'alone-desktop-light');
  await samuel.type(code);
  await samuel.join();
  const extras = await openExtras(stage, code, [mira, samuel]);
  await extras.come(NAMES.slice(2));
  await Promise.all([mira.hasMedia(5), samuel.hasMedia(5)]);
  await Promise.all([mira, samuel].map((caller) => measured(caller, 5)));
  await picture(mira, 'six-desktop-light');
  await picture(samuel, 'six-phone-dark');
  await mira.press('Invite people');
  await picture(mira, 'invite-desktop-light');
});

test('in Chinese', async () => {
  await using stage = await openStage();
  const lin = await stage.caller({ ...PHONE, locale: 'zh-CN', name: '林晓', script: portrait(7) });
  await picture(lin, 'chinese-phone-light');
  const code = await lin.create();
  const wei = await stage.caller({
    ...DESKTOP,
    colorScheme: 'dark',
    locale: 'zh-CN',
    name: '王伟',
    script: portrait(3),
  });
  await wei.type(code);
  await wei.join();
  await wei.open('people');
  await measured(wei, 1);
  // A browser begins with a coarse picture, and sends a finer one when it knows that it arrives.
  const seconds = () => wei.page.evaluate('document.querySelector(".tile[data-own=false] video").currentTime');
  await expect.poll(seconds, { timeout: 25_000 }).toBeGreaterThan(8);
  await picture(wei, 'chinese-desktop-dark');
});

/** How well so many others are reached is on the screen. */
async function measured({ page }: Caller, others: number): Promise<void> {
  const bars = page.locator('.tile .bars:is([data-grade="2"], [data-grade="3"])');
  await expect.poll(() => bars.count(), { timeout: 25_000 }).toBe(others);
}
