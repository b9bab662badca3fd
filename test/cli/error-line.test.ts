/** Usage errors repeat the name of a flag, and no value: it may be a secret. */
import { expect, test } from 'vitest';
import { usageErrorLine } from '../../src/cli/error-line.ts';

test.each([
  ["error: unknown option '--secrt=hunter2'", "signalbox: unknown option '--secrt'\n"],
  ["error: unknown option '-shunter2'", "signalbox: unknown option '-s'\n"],
  [
    "error: unknown option '--prot'\n(Did you mean --port?)",
    "signalbox: unknown option '--prot' (Did you mean --port?)\n",
  ],
])('%j is shown without a value', (text, shown) => {
  expect(usageErrorLine(text)).toBe(shown);
});
