/** The defaults that `docs/architecture.md` names are the defaults. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
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
] as const)('%s', (row, options) => {
  const defaults = options.map((name) => durationText(OPTIONS[name].schema.parse(undefined)));
  expect(page).toContain(`| ${row} | ${defaults.join(', ')} |`);
});
