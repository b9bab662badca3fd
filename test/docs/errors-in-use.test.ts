/** An error that a client is told to expect and that nothing ever sends is a lie: such a one is marked as reserved. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { ERRORS } from '../../src/protocol/errors.ts';

const source = fileURLToPath(new URL('../../src', import.meta.url));

/** The protocol only lists them; who sends them is elsewhere. */
const senders = readdirSync(source, { recursive: true, encoding: 'utf8' })
  .filter((path) => /\.(ts|lua)$/.test(path) && !path.startsWith('protocol/'))
  .map((path) => readFileSync(join(source, path), 'utf8'));

test.each(Object.entries(ERRORS))('%s is sent by something, unless it is reserved', (code, entry) => {
  const isSent = senders.some((text) => text.includes(`'${code}'`));
  expect(isSent).toBe(!('reserved' in entry));
});
