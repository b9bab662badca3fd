/** `docs/protocol.md` documents every error and message of the source, and no others. */
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { printProtocolPage } from '../../scripts/protocol-page.ts';
import { ERRORS } from '../../src/protocol/errors.ts';
import { PUSHES, REQUESTS } from '../../src/protocol/messages.ts';

const page = readFileSync(new URL('../../docs/protocol.md', import.meta.url), 'utf8');

test('docs/protocol.md is what `npm run docs` prints', () => {
  expect(page, 'docs/protocol.md is stale: run `npm run docs`').toBe(printProtocolPage());
});

describe('errors', () => {
  // Without the padding of its columns.
  const section = page.slice(page.lastIndexOf('\n## Errors\n')).replaceAll(/ +/g, ' ');
  const rows = [...section.matchAll(/^\| `([A-Z_]+)` \| (.+?) \| (yes|no|reserved) \| (.+?) \| (.+?) \|$/gm)];

  test('are all documented, each once, and no others', () => {
    expect(rows.map(([, code]) => code)).toEqual(Object.keys(ERRORS));
  });

  test.each(Object.entries(ERRORS))(
    '%s: with its text, and whether to try again',
    (code, { message, retryable, ...rest }) => {
      const [, , text, retry, where] = rows.find((row) => row[1] === code) ?? [];
      expect(text).toBe(message);
      expect(retry).toBe('reserved' in rest ? 'reserved' : retryable ? 'yes' : 'no');
      expect(where === '–').toBe('reserved' in rest);
    },
  );

  test('named in the prose and in the example exist', () => {
    const words = [...page.matchAll(/[`']([A-Z][A-Z_]{3,})[`']/g)].map(([, word]) => word ?? '');
    expect(words.length).toBeGreaterThan(Object.keys(ERRORS).length);
    expect(words.filter((word) => !Object.hasOwn(ERRORS, word))).toEqual([]);
  });
});

describe('messages', () => {
  test('are all documented: a heading for each', () => {
    const headings = [...page.matchAll(/^### `(.+)`$/gm)].map(([, name]) => name);
    expect(headings).toEqual([...Object.keys(REQUESTS), ...Object.keys(PUSHES)]);
  });

  test('named in the prose and in the example exist', () => {
    const names = [...page.matchAll(/[`']((?:room|member|host|session|server|lobby):[a-z-]+)[`']/g)].map(
      ([, name]) => name,
    );
    const known: readonly string[] = [...Object.keys(REQUESTS), ...Object.keys(PUSHES)];
    expect(names.filter((name) => !known.includes(name ?? ''))).toEqual([]);
  });
});

test('no placeholder of the template is left', () => {
  expect(page).not.toMatch(/\{\{|\}\}$|undefined,|\[object/m);
});
