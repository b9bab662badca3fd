/** The defaults that `docs/architecture.md` names are the defaults, and the drawings of the floors are current. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { printFloorsInto } from '../../scripts/floors-drawing.ts';
import { durationText } from '../../scripts/protocol-page.ts';
import { OPTIONS } from '../../src/server/options/options.ts';

// Without the padding of its columns.
const page = readFileSync(new URL('../../docs/architecture.md', import.meta.url), 'utf8').replaceAll(/ +/g, ' ');

test.each([
  ['transport ping, and wait for its answer', ['pingIntervalMs', 'pingTimeoutMs']],
  ['`heartbeat` of a client', ['heartbeatIntervalMs']],
  ["lease of a seat, life of a user's record", ['userTtlMs']],
  ['grace of an away member', ['graceMs']],
  ['room empty, idle, at most', ['roomEmptyMs', 'roomIdleMs', 'roomMaxAgeMs']],
  ['cool-down of a code', ['codeCooldownMs']],
  ['tick', ['tickMs']],
  ['life of TURN credentials', ['turnTtlMs']],
] as const)('the default in the row "%s" is that of the options', (row, options) => {
  const defaults = options.map((name) => durationText(OPTIONS[name].schema.parse(undefined)));
  expect(page).toContain(`| ${row} | ${defaults.join(', ')} |`);
});

test.each(['CONTRIBUTING.md', 'docs/architecture.md'] as const)(
  'the floors drawn in %s are those that `npm run docs` prints',
  (name) => {
    expect(readFileSync(new URL(`../../${name}`, import.meta.url), 'utf8')).toBe(printFloorsInto(name));
  },
);
