/** The page before a call, and the way back to it. */
import { expect, test } from 'vitest';
import { connect } from '../../src/client/index.ts';
import { startProxy } from '../support/proxy.ts';
import { openHarness } from './harness.ts';

test.each(['en', 'zh'])('creating and joining are both on the screen of a phone: %s', async (locale) => {
  await using harness = await openHarness();
  const ada = await harness.caller({ width: 360, height: 740, locale });
  for (const id of ['lobby-code', 'lobby-join', 'lobby-create']) {
    const box = await ada.page.locator(`#${id}`).boundingBox();
    expect(box?.y, id).toBeGreaterThan(0);
    expect((box?.y ?? 0) + (box?.height ?? 0), id).toBeLessThanOrEqual(740);
  }
});

test('the page remembers the name and the devices that were turned off', async () => {
  await using harness = await openHarness();
  const ada = await harness.caller({ name: 'Ada' });
  await ada.press('Turn camera off');
  await ada.press('Mute microphone');
  await ada.create();
  await ada.page.reload();
  await ada.see('#call');
  await ada.see('.tile[data-own="true"][data-camera="off"]');
  await ada.read('Microphone off');
  await ada.press('Leave');
  expect(await ada.page.getByLabel('Your name').inputValue()).toBe('Ada');
});

test('a room that was left does not come back, even when the server could not be told', async () => {
  await using harness = await openHarness();
  await using proxy = await startProxy(harness.server.port);
  const host = connect(harness.server.url, { store: null });
  const room = await host.create();
  const ada = await harness.caller({ name: 'Ada', port: proxy.port });
  await ada.type(room.code);
  await ada.press('Join');
  await ada.see('#call');
  const away = new Promise((resolve) => room.on('member:away', resolve));
  const left = new Promise((resolve) => room.on('member:left', ({ reason }) => resolve(reason)));
  proxy.cut();
  await away;
  await ada.press('Leave');
  await ada.see('#lobby');
  expect(await ada.page.evaluate('location.hash')).toBe('');
  proxy.heal();
  expect(await left).toBe('left');
  await ada.page.reload();
  await ada.see('#lobby');
  await expect.poll(() => ada.demo('state'), { timeout: 30_000 }).toBe('online');
  expect(await ada.demo('ref')).toBeNull();
  await host.close();
});

test('a user goes from the end of one call into the next', async () => {
  await using harness = await openHarness();
  const host = connect(harness.server.url, { store: null });
  const room = await host.create();
  const ada = await harness.caller({ name: 'Ada' });
  await ada.type(room.code);
  await ada.press('Join');
  await ada.see('#call');
  await room.close();
  await ada.see('#ended');
  // The light of the camera goes out.
  expect(await ada.page.evaluate('document.querySelector("#preview-video").srcObject')).toBeNull();
  await ada.press('Go to the start page');
  await ada.create();
  await ada.see('.tile[data-camera="on"]');
  await host.close();
});
