/** Invitations: the code, the link and the QR code. */
import decodeQR from 'qr/decode.js';
import { expect, test } from 'vitest';
import { type Caller, openHarness } from './harness.ts';

test('the code, the link and the QR code lead to the same room', async () => {
  await using harness = await openHarness();
  const ada = await harness.caller({ name: 'Ada' });
  const code = await ada.create();
  const link = await ada.page.evaluate<string>('location.href');
  expect(link).toBe(`http://localhost:${harness.server.port}/#${code.replace(' ', '')}`);
  for (const place of ['#alone', '#invite-dialog']) {
    if (place === '#invite-dialog') await ada.press('Invite people');
    expect(await ada.page.locator(`${place} [data-part="code"]`).textContent()).toBe(code);
    expect(`http://${await ada.page.locator(`${place} [data-part="link"]`).textContent()}`).toBe(link);
    expect(await scan(ada, `${place} svg[role="img"]`)).toBe(link);
  }
});

test('copying the link is confirmed beside the button', async () => {
  await using harness = await openHarness();
  const ada = await harness.caller({ name: 'Ada' });
  await ada.person.context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await ada.create();
  const link = await ada.page.evaluate<string>('location.href');
  await ada.press('Invite people');
  await ada.page.locator('#invite-dialog').getByRole('button', { name: 'Copy link' }).click();
  expect(await ada.page.evaluate('navigator.clipboard.readText()')).toBe(link);
  const said = ada.page.locator('#invite-dialog [role="status"]');
  await expect.poll(() => said.textContent()).toBe('Link copied. Whoever opens it can join this room.');
  await ada.page.keyboard.press('Escape');
  await ada.page.locator('#call-copy').click();
  await ada.read('Link copied.');
});

test('the link is shown where copying is impossible, and a share button where the browser can share', async () => {
  await using harness = await openHarness();
  const script = `
    navigator.clipboard.writeText = () => Promise.reject(new DOMException('no', 'NotAllowedError'));
    navigator.share = async (what) => void (globalThis.sent = what);`;
  const ada = await harness.caller({ name: 'Ada', script });
  await ada.create();
  const link = await ada.page.evaluate<string>('location.href');
  await ada.page.locator('#call-copy').click();
  await ada.read(`Copy this link: ${link}`);
  await ada.press('Send link…');
  expect(await ada.page.evaluate('sent')).toEqual({ title: 'Signalbox', url: link });
});

/** Reads a QR code from what it is drawn with: the page's policy lets no picture be made of it. */
async function scan({ page }: Caller, selector: string): Promise<string> {
  const pixels = await page.evaluate<{ size: number; data: number[] }>(`(() => {
    const svg = document.querySelector(${JSON.stringify(selector)});
    const scale = 8;
    const size = scale * svg.viewBox.baseVal.width;
    const context = Object.assign(document.createElement('canvas'), { width: size, height: size }).getContext('2d');
    context.scale(scale, scale);
    for (const shape of svg.children) {
      const outline = new Path2D(shape.getAttribute('d') ?? '');
      if (shape instanceof SVGRectElement) outline.rect(0, 0, shape.width.baseVal.value, shape.height.baseVal.value);
      context.fillStyle = getComputedStyle(shape).fill;
      context.fill(outline);
    }
    return { size, data: [...context.getImageData(0, 0, size, size).data] };
  })()`);
  return decodeQR({ width: pixels.size, height: pixels.size, data: Uint8Array.from(pixels.data) });
}
