/** What a page downloads: the file that every server serves at `/signalbox.js`, Socket.IO's client included. */
import { readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';

const script = readFileSync(new URL('../../dist/browser/signalbox.js', import.meta.url));

test('it is at most 20 kB with gzip', () => {
  const bytes = gzipSync(script, { level: 9 }).length;
  process.stdout.write(`signalbox.js: ${bytes} bytes with gzip, ${script.length} without\n`);
  expect(bytes).toBeLessThanOrEqual(20_000);
});

test('it has no validator in it: what a server says is what the table of messages says', () => {
  expect(script.toString()).not.toMatch(/zod|_zod/i);
});
