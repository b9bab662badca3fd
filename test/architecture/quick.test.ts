/** `npm run test:quick` covers the tests that need no service. */
import { existsSync } from 'node:fs';
import { expect, test } from 'vitest';
import { NOT_QUICK, selectTests } from '../support/selection.ts';
import { SECONDS } from '../support/sequencer.ts';

const { quick, services, apart } = selectTests();
const others = [...services, ...apart];

test.each(['architecture', 'protocol', 'room', 'engine', 'reference', 'client', 'server', 'webhooks'])(
  'the quick tests cover the folder %s',
  (folder) => {
    expect(quick.filter((file) => file.startsWith(`test/${folder}/`))).not.toEqual([]);
  },
);

test('every test of the rules and of the protocol is quick', () => {
  expect(others.filter((file) => /^test\/(room|protocol)\//.test(file))).toEqual([]);
});

test('no test that imports a browser or a store, directly or through another file, is quick', () => {
  expect(quick.filter((file) => /^test\/(browser\/call|engine\/redis|database\/database)\.test/.test(file))).toEqual(
    [],
  );
});

test('every file that is named in the selection or in the order exists', () => {
  expect(
    [...NOT_QUICK, ...Object.keys(SECONDS)].filter((file) => !existsSync(new URL(`../../${file}`, import.meta.url))),
  ).toEqual([]);
});
