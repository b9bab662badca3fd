import { expect, test } from 'vitest';
import { startProxy } from '../support/proxy.ts';
import { Caller, openHarness } from './harness.ts';

test('two browsers join by a typed code: media flow both ways, chat works, leaving ends it', async () => {
  await using harness = await openHarness();
  const ada = await harness.caller({ name: 'Ada' });
  const code = await ada.create();
  expect(code).toMatch(/^[1-9]\d\d \d{3}$/);
  await ada.read('Nobody else is here yet');

  const bob = await harness.caller({ name: 'Bob' });
  await bob.type(code);
  const joinToMediaMs = await bob.join();
  process.stdout.write(`join to media: ${joinToMediaMs} ms\n`);
  expect(joinToMediaMs).toBeLessThan(10_000);
  await Promise.all([ada.hasMedia(1), bob.hasMedia(1)]);

  await bob.say('Is <b>that</b> you?');
  await ada.read('Bob: Is <b>that</b> you?');
  await ada.open('chat');
  await ada.read(/^Is <b>that<\/b> you\?$/);
  await ada.press('Turn camera off');
  await bob.see('.tile[data-camera="off"][data-own="false"]');
  await ada.press('Turn camera on');
  await bob.see('.tile[data-camera="on"][data-own="false"]');
  await bob.hasMedia(1);

  await bob.press('Leave');
  await bob.see('#lobby');
  await ada.read('Bob left');
  await ada.until((peers) => peers.length === 0, 'nobody left');
  expect([...ada.person.complaints, ...bob.person.complaints]).toEqual([]);
});

test('a link fills in its code, and one click joins', async () => {
  await using harness = await openHarness();
  const ada = await harness.caller({ name: 'Ada' });
  const code = await ada.create();
  const link = await ada.page.evaluate<string>('location.hash');
  expect(link).toBe(`#${code.replace(' ', '')}`);

  const bob = await harness.caller({ hash: link });
  await bob.read(`You are invited to room ${code}. Join when you are ready.`);
  await bob.join();
  await bob.press('Leave');

  await bob.type(fullWidth(code));
  expect(await bob.page.getByLabel('Room code').inputValue()).toBe(link.slice(1));
  await bob.type(`${harness.server.url}/${link}`);
  expect(await bob.page.getByLabel('Room code').inputValue()).toBe(link.slice(1));
  await bob.join();
});

test.each(['earlier', 'later'] as const)(
  'the %s of two members refreshes the page and is back on its seat',
  async (who) => {
    await using harness = await openHarness();
    const ada = await harness.caller({ name: 'Ada' });
    const bob = await harness.caller({ name: 'Bob' });
    await bob.type(await ada.create());
    await bob.join();
    const [one, other, name] = who === 'earlier' ? [ada, bob, 'Ada'] : [bob, ada, 'Bob'];
    const before = await one.demo('userId');
    const position = await ownPosition(one);

    await one.page.reload();
    await one.see('#call');
    await other.read(`${name} is back`);
    await Promise.all([one.hasMedia(1), other.hasMedia(1)]);
    expect(await one.demo('userId')).toBe(before);
    expect(await ownPosition(one)).toBe(position);
    const told = await other.told();
    expect(told.filter((line) => line.startsWith(name)).slice(-2)).toEqual([
      `${name} lost the connection`,
      `${name} is back`,
    ]);
    expect(told).not.toContainEqual(expect.stringMatching(/ left$|did not come back/));
    expect([...one.person.complaints, ...other.person.complaints]).toEqual([]);
  },
);

test('both members refresh at the same moment and are connected again', async () => {
  await using harness = await openHarness();
  const ada = await harness.caller({ name: 'Ada' });
  const bob = await harness.caller({ name: 'Bob' });
  await bob.type(await ada.create());
  await bob.join();
  const before = [await ada.demo('userId'), await bob.demo('userId')];
  await Promise.all([ada.page.reload(), bob.page.reload()]);
  await Promise.all([ada.see('#call'), bob.see('#call')]);
  await Promise.all([ada.hasMedia(1), bob.hasMedia(1)]);
  expect([await ada.demo('userId'), await bob.demo('userId')]).toEqual(before);
});

test('a call goes on while the server cannot be reached, and is the same call afterwards', async () => {
  await using harness = await openHarness();
  await using proxy = await startProxy(harness.server.port);
  const ada = await harness.caller({ name: 'Ada' });
  const bob = await harness.caller({ name: 'Bob', port: proxy.port });
  const code = await ada.create();
  await bob.type(code);
  await bob.join();
  await bob.hasMedia(1);

  proxy.cut();
  await bob.read(/^Connection to the server lost/);
  await ada.read('Bob lost the connection');
  await Promise.all([ada.hasMedia(1), bob.hasMedia(1)]);
  const [before] = await bob.peers();
  proxy.heal();
  await ada.read('Bob is back');
  await bob.read('Connected again.');
  await Promise.all([ada.hasMedia(1), bob.hasMedia(1)]);
  // A new connection would have begun to count anew.
  await bob.until(([peer]) => (peer?.framesDecoded ?? 0) > (before?.framesDecoded ?? 0), 'the same connection');
});

test('a second tab with the same seat takes over, and the first stays closed', async () => {
  await using harness = await openHarness();
  const ada = await harness.caller({ name: 'Ada' });
  const bob = await harness.caller({ name: 'Bob' });
  await bob.type(await ada.create());
  await bob.join();
  const userId = await bob.demo('userId');

  // What "duplicate tab" does: the new one begins with a copy of the storage of this tab.
  const stored = await bob.page.evaluate<string>('JSON.stringify(Object.entries(sessionStorage))');
  const page = await bob.person.context.newPage();
  await page.addInitScript({ content: `for (const [key, value] of ${stored}) sessionStorage.setItem(key, value);` });
  await page.goto(harness.server.url.replace('127.0.0.1', 'localhost'));
  const second = new Caller(bob.person, page);
  await second.see('#call');
  await bob.read('The call goes on in another tab');
  await Promise.all([second.hasMedia(1), ada.hasMedia(1)]);
  expect(await second.demo('userId')).toBe(userId);

  // Whatever the first did to come back would have replaced the second by now: its word has gone there and back.
  await second.say('still here');
  await ada.read('Bob: still here');
  await bob.see('#ended');
  await second.see('#call');
  expect(await ada.told()).not.toContain('Bob left');
});

test('a user without a camera can join', async () => {
  await using harness = await openHarness();
  const ada = await harness.caller({ name: 'Ada', camera: 'denied' });
  await ada.read(/^Camera and microphone are blocked for this page/);
  const bob = await harness.caller({ name: 'Bob' });
  await bob.type(await ada.create());
  await bob.press('Join');
  await ada.hasMedia(1);
  await bob.see('.tile[data-own="false"][data-camera="off"][data-link="connected"]');
  await bob.read('Microphone off');
});

const fullWidth = (code: string): string =>
  code.replace(/\d/g, (digit) => String.fromCodePoint(0xff10 + Number(digit)));

/** Seats are shown in the order of joining. */
async function ownPosition(caller: Caller): Promise<number> {
  const lines = await caller.page.locator('#people > li').allTextContents();
  return lines.findIndex((line) => line.includes('(you)'));
}
