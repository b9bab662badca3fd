/** Every documented error is sent somewhere in the source, or is marked as reserved. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { ERRORS } from '../../src/protocol/errors.ts';

const source = fileURLToPath(new URL('../../src', import.meta.url));

/** The protocol only lists the errors; the code that sends them is elsewhere. */
const senders = readdirSync(source, { recursive: true, encoding: 'utf8' })
  .filter((path) => /\.(ts|lua)$/.test(path) && !path.startsWith('protocol/'))
  .map((path) => readFileSync(join(source, path), 'utf8'));

test.each(Object.entries(ERRORS))('%s is sent somewhere, unless it is reserved', (code, entry) => {
  const isSent = senders.some((text) => text.includes(`'${code}'`));
  expect(isSent).toBe(!('reserved' in entry));
});
