import { expect, test } from 'vitest';
import { createServer } from '../../src/index.ts';

test('the page is asked for every time, its assets never again', async () => {
  const server = await createServer({ host: '127.0.0.1', port: 0 });
  try {
    const origin = `http://127.0.0.1:${server.port}`;
    const page = await fetch(origin);
    expect(page.headers.get('cache-control')).toBe('no-cache');
    expect(page.headers.get('content-security-policy')).toContain("script-src 'self'");
    const [asset] = /assets\/[^"]+\.js/.exec(await page.text()) ?? [];
    const script = await fetch(`${origin}/${asset}`);
    expect(script.status).toBe(200);
    expect(script.headers.get('cache-control')).toContain('immutable');
    expect((await fetch(`${origin}/nothing`)).headers.get('content-type')).toContain('application/problem+json');
  } finally {
    await server.close();
  }
});
