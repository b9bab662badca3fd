/** The file that pages download from `/signalbox.js`, which includes Socket.IO's client. */
import { readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';

const script = readFileSync(new URL('../../dist/browser/signalbox.js', import.meta.url));

test('the SDK file is at most 20 kB with gzip', () => {
  const bytes = gzipSync(script, { level: 9 }).length;
  process.stdout.write(`signalbox.js: ${bytes} bytes with gzip, ${script.length} without\n`);
  expect(bytes).toBeLessThanOrEqual(20_000);
});

test('the SDK file contains no validator: messages of a server are trusted', () => {
  expect(script.toString()).not.toMatch(/zod|_zod/i);
});
