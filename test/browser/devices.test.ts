/** Camera, microphone, speaker and screen: chosen, unplugged, refused, shared and taken back. */
import { expect, test } from 'vitest';
import { type Caller, openHarness } from './harness.ts';

/** Keeps what the page was given, so that a test can unplug it; and hides it from then on if it is told to. */
const PLUGS = `
  globalThis.plugs = [];
  globalThis.hidden = [];
  if (navigator.mediaDevices) {
    const real = navigator.mediaDevices.getUserMedia.bind(navigator.mediaDevices);
    navigator.mediaDevices.getUserMedia = async (wishes) => {
      const missing = hidden.some((kind) => wishes[kind]);
      if (missing) throw new DOMException('Requested device not found', 'NotFoundError');
      const stream = await real(wishes);
      plugs.push(...stream.getTracks());
      return stream;
    };
    const display = navigator.mediaDevices.getDisplayMedia.bind(navigator.mediaDevices);
    navigator.mediaDevices.getDisplayMedia = async (wishes) => {
      if (globalThis.refusal) throw new DOMException(refusal, 'NotAllowedError');
      const stream = await display(wishes);
      plugs.push(...stream.getTracks());
      return stream;
    };
  }
  globalThis.unplug = (kind, gone) => {
    if (gone) hidden.push(kind);
    const track = plugs.findLast((one) => one.kind === kind && one.readyState === 'live');
    track.stop();
    track.dispatchEvent(new Event('ended'));
  };`;

/** A browser that asks the person, who takes their time while `slow` is set. */
const SLOW = `
  globalThis.slow = false;
  globalThis.waiting = [];
  globalThis.given = [];
  for (const name of ['getUserMedia', 'getDisplayMedia']) {
    const real = navigator.mediaDevices[name];
    navigator.mediaDevices[name] = (wishes) => {
      const answer = slow ? new Promise((resolve) => waiting.push(resolve)) : Promise.resolve();
      const stream = answer.then(() => real.call(navigator.mediaDevices, wishes));
      given.push(stream);
      return stream;
    };
  }`;

test('a newly chosen camera and speaker are used at once, and the next time', async () => {
  await using harness = await openHarness();
  const ada = await harness.caller({ name: 'Ada' });
  const camera = ada.page.locator('#lobby-devices select').first();
  await expect.poll(() => camera.locator('option').count()).toBeGreaterThan(2);
  // The second of Chromium's fake cameras sees depth only.
  const other = (await camera.locator('option').nth(2).getAttribute('value')) ?? '';
  await camera.selectOption(other);
  await expect.poll(() => cameraInUse(ada)).toBe(other);
  await ada.page.reload();
  await expect.poll(() => cameraInUse(ada)).toBe(other);

  const code = await ada.create();
  const bob = await harness.caller({ name: 'Bob' });
  await bob.type(code);
  await bob.join();
  await ada.press('Camera and sound settings');
  const speaker = ada.page.getByRole('dialog').getByLabel('Speaker');
  const loud = (await speaker.locator('option').last().getAttribute('value')) ?? '';
  await speaker.selectOption(loud);
  const sinkOf = (): Promise<string> =>
    ada.page.evaluate<string>('document.querySelector(".tile[data-own=false] video").sinkId');
  await expect.poll(sinkOf).toBe(loud);
  // Our own picture makes no sound.
  expect(await ada.page.evaluate('document.querySelector(".tile[data-own=true] video").muted')).toBe(true);
});

test('an unplugged device is replaced by another one, or a sentence says what to do', async () => {
  await using harness = await openHarness();
  const ada = await harness.caller({ name: 'Ada', script: PLUGS });
  const bob = await harness.caller({ name: 'Bob' });
  await bob.type(await ada.create());
  await bob.join();
  await ada.page.evaluate("unplug('video')");
  await ada.read(/^A device was disconnected\. Now in use: fake_device/);
  await bob.hasMedia(1);
  await ada.page.evaluate("unplug('video', true)");
  await ada.read('Your camera was disconnected. Plug it in again, then turn the camera on.');
  await bob.see('.tile[data-own="false"][data-camera="off"]');
  await ada.page.evaluate("unplug('audio', true)");
  await ada.read('Your microphone was disconnected. Plug it in again, then unmute.');
  await bob.read('Microphone off');
});

test('a user without a camera takes part with the microphone', async () => {
  await using harness = await openHarness();
  const ada = await harness.caller({ name: 'Ada', script: `${PLUGS}; hidden.push('video')` });
  await ada.read('No camera was found, so you will be heard but not seen.');
  await ada.see('#preview-microphone[data-on="true"]');
});

test('a shared screen is seen beside the camera, and ends when the browser ends it', async () => {
  await using harness = await openHarness();
  const ada = await harness.caller({ name: 'Ada' });
  const bob = await harness.caller({ name: 'Bob', script: PLUGS });
  const code = await ada.create();
  await bob.type(code);
  await bob.join();
  await bob.press('Share your screen');
  await bob.read('Everyone here sees your screen.');
  await ada.read('Bob’s screen');
  await ada.read('Bob shares a screen');
  await ada.until(([peer]) => peer?.sharesScreen === true, 'the screen');
  await expect.poll(() => widthOf(ada, '.screen-video')).toBeGreaterThan(0);
  await expect.poll(() => widthOf(ada, '.tile[data-own="false"] video')).toBeGreaterThan(0);

  const cleo = await harness.caller({ name: 'Cleo' });
  await cleo.type(code);
  await cleo.press('Join');
  // Whoever comes later sees it too.
  await cleo.see('.screen');

  await bob.page.evaluate("unplug('video')");
  await expect.poll(() => ada.page.locator('.screen').count(), { timeout: 30_000 }).toBe(0);
  await bob.page.getByRole('button', { name: 'Share your screen' }).waitFor();
  expect(await bob.page.getByText('Everyone here sees your screen.').isVisible()).toBe(false);

  await bob.press('Share your screen');
  await ada.see('.screen');
  await bob.page.locator('#notice-action').click();
  await expect.poll(() => ada.page.locator('.screen').count(), { timeout: 30_000 }).toBe(0);
});

test('a system that forbids screen sharing is reported, a cancelled choice is not', async () => {
  await using harness = await openHarness();
  const ada = await harness.caller({ name: 'Ada', script: PLUGS });
  await ada.create();
  await ada.page.evaluate("globalThis.refusal = 'Permission denied'");
  await ada.press('Share your screen');
  await ada.page.evaluate("globalThis.refusal = 'Permission denied by system'");
  await ada.press('Share your screen');
  await ada.read('Your screen is not shared. Allow screen recording in your browser or system to share it.');
});

test('a device granted after the end of the call is released, and none is asked for twice', async () => {
  await using harness = await openHarness();
  const ada = await harness.caller({ name: 'Ada', script: `${PLUGS}; ${SLOW}` });
  await ada.see('#preview-microphone[data-on="true"]');
  await ada.create();
  await ada.page.evaluate('slow = true');
  await ada.press('Share your screen');
  await ada.press('Share your screen');
  await expect.poll(() => ada.page.evaluate('waiting.length')).toBe(1);
  await ada.press('Turn camera off');
  await ada.press('Turn camera on');
  await expect.poll(() => ada.page.evaluate('waiting.length')).toBe(2);
  await ada.open('people');
  await ada.press('End the room for everyone');
  await ada.press('End the room');
  await ada.see('#ended');
  await ada.page.evaluate('slow = false; for (const go of waiting) go(); Promise.allSettled(given)');
  await expect.poll(() => ada.page.evaluate('plugs.every(({ readyState }) => readyState === "ended")')).toBe(true);
  expect(await ada.page.evaluate("plugs.filter(({ kind }) => kind === 'video').length")).toBeGreaterThan(1);
  await ada.press('Go to the start page');
  await ada.see('#preview-camera[data-on="true"]');
  await ada.create();
  expect(await ada.page.locator('#call-screen[data-active="true"]').count()).toBe(0);
});

test('the camera is asked for a smaller picture the more members there are', async () => {
  await using harness = await openHarness();
  const ada = await harness.caller({ name: 'Ada', script: PLUGS });
  await expect.poll(() => pictureWidth(ada)).toBe(960);
  const code = await ada.create();
  const others = await Promise.all(['Bob', 'Cleo'].map((name) => harness.caller({ name, camera: 'denied' })));
  for (const other of others) {
    await other.type(code);
    await other.press('Join');
    await other.see('#call');
  }
  await expect.poll(() => pictureWidth(ada), { timeout: 30_000 }).toBe(640);
});

test('the screen of the device stays on while the call lasts', async () => {
  await using harness = await openHarness();
  const script = `
    globalThis.locks = 0;
    navigator.wakeLock.request = async () => {
      locks += 1;
      return { release: async () => void (locks -= 1) };
    };`;
  const ada = await harness.caller({ name: 'Ada', script });
  await ada.create();
  await expect.poll(() => ada.page.evaluate('locks')).toBe(1);
  await ada.press('Leave');
  await expect.poll(() => ada.page.evaluate('locks')).toBe(0);
});

test('a browser that blocks sound is worked around with a button; pictures play meanwhile', async () => {
  await using harness = await openHarness();
  const script = `
    let clicked = false;
    addEventListener('click', () => (clicked = true), { capture: true });
    const play = HTMLMediaElement.prototype.play;
    HTMLMediaElement.prototype.play = function () {
      return this.muted || clicked ? play.call(this) : Promise.reject(new DOMException('no click yet', 'NotAllowedError'));
    };`;
  const ada = await harness.caller({ name: 'Ada' });
  const bob = await harness.caller({ name: 'Bob', script });
  await bob.type(await ada.create());
  await bob.join();
  await bob.page.reload();
  await bob.read('Your browser keeps the others silent until you allow sound.');
  await bob.hasMedia(1);
  const muted = (): Promise<boolean> =>
    bob.page.evaluate<boolean>('document.querySelector(".tile[data-own=false] video").muted');
  expect(await muted()).toBe(true);
  await bob.press('Turn sound on');
  await expect.poll(muted).toBe(false);
});

const cameraInUse = (caller: Caller): Promise<unknown> =>
  caller.page.evaluate(
    'document.querySelector("#preview-video").srcObject?.getVideoTracks()[0]?.getSettings().deviceId',
  );

const pictureWidth = (caller: Caller): Promise<unknown> =>
  caller.page.evaluate("plugs.findLast(({ kind }) => kind === 'video')?.getSettings().width");

const widthOf = (caller: Caller, selector: string): Promise<number> =>
  caller.page.evaluate<number>(`document.querySelector(${JSON.stringify(selector)})?.videoWidth ?? 0`);
