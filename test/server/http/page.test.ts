import { expect, test } from 'vitest';
import { createServer } from '../../../src/index.ts';

test('the page is asked for every time, its assets never again', async () => {
  const server = await createServer({ host: '127.0.0.1', port: 0 });
  try {
    const origin = `http://127.0.0.1:${server.port}`;
    const page = await fetch(origin);
    expect(page.headers.get('cache-control')).toBe('no-cache');
    expect(page.headers.get('content-security-policy')).toBe(
      "default-src 'self';connect-src 'self';style-src 'self';script-src 'self';object-src 'none';" +
        "base-uri 'none';form-action 'self';frame-ancestors 'none'",
    );
    const [asset] = /assets\/[^"]+\.js/.exec(await page.text()) ?? [];
    const script = await fetch(`${origin}/${asset}`);
    expect(script.status).toBe(200);
    expect(script.headers.get('cache-control')).toContain('immutable');
    expect((await fetch(`${origin}/nothing`)).headers.get('content-type')).toContain('application/problem+json');
  } finally {
    await server.close();
  }
});

test('the SDK is one file that a page of any origin may import', async () => {
  const server = await createServer({ host: '127.0.0.1', port: 0 });
  try {
    const answer = await fetch(`${server.url}/signalbox.js`);
    expect(answer.headers.get('content-type')).toContain('text/javascript');
    expect(answer.headers.get('access-control-allow-origin')).toBe('*');
    expect(answer.headers.get('cross-origin-resource-policy')).toBe('cross-origin');
    expect(answer.headers.get('content-encoding')).toBe('gzip');
    expect(await answer.text()).toContain('export{');
    const plain = await fetch(`${server.url}/signalbox.js`, { headers: { 'accept-encoding': 'identity' } });
    expect(plain.headers.get('content-encoding')).toBeNull();
    expect(await plain.text()).toContain('export{');
  } finally {
    await server.close();
  }
});

test('without them, neither page nor SDK is served', async () => {
  const server = await createServer({ host: '127.0.0.1', port: 0, demo: false, sdk: false });
  try {
    for (const path of ['/', '/signalbox.js']) expect((await fetch(server.url + path)).status).toBe(404);
  } finally {
    await server.close();
  }
});
