/** Handshakes that Engine.IO refuses because of a mistake of the operator: the log says which, once. */
import { expect, test } from 'vitest';
import { listening } from '../../support/log.ts';
import { startNodes } from '../../support/nodes.ts';

const POLLING = { transports: ['polling', 'websocket'] as ('polling' | 'websocket')[] };
const TRANSPORT = '/socket.io/?EIO=4&transport=';

async function warningsOf(paths: readonly string[], options = {}): Promise<readonly string[]> {
  const { log, lines } = listening();
  await using nodes = await startNodes({ kind: 'memory', count: 1 }, options, { log });
  for (const path of paths) await fetch(nodes.url(0) + path).then((response) => response.text());
  return lines.filter((line) => line.startsWith('warn'));
}

const twice = (path: string) => [path, path];

test('polling that reaches the wrong node is said once, and that it needs sticky sessions', async () => {
  const warnings = await warningsOf(twice(`${TRANSPORT}polling&sid=of-another-node`), POLLING);
  expect(warnings).toEqual([expect.stringContaining('sticky sessions')]);
});

test('a transport that is off is said once', async () => {
  expect(await warningsOf(twice(`${TRANSPORT}polling`))).toEqual([expect.stringContaining('polling, which is off')]);
});

test('a proxy that does not pass upgrades on is said once', async () => {
  expect(await warningsOf(twice(`${TRANSPORT}websocket`))).toEqual([expect.stringContaining('Upgrade and Connection')]);
});

test('a client of an old version is said once', async () => {
  const warnings = await warningsOf(twice('/socket.io/?EIO=3&transport=polling'), POLLING);
  expect(warnings).toEqual([expect.stringContaining('Socket.IO 2')]);
});

test('requests that make no sense are not worth a line, and nothing of them is logged', async () => {
  const { length } = await warningsOf([`${TRANSPORT}pigeon%0a`, '/socket.io/', `${TRANSPORT}__proto__`]);
  expect(length).toBe(0);
});
